// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// peerService gives members their names. Those that are not ready are told too: they find
// each other by them before they can be ready.
func peerService(c *etcdv1beta2.EtcdCluster) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(c.Name, c.Namespace).WithLabels(labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(own(c)).
			WithPorts(port("client", etcdv1beta2.ClientPort), port("peer", etcdv1beta2.PeerPort)))
}

// forClients is the Service that clients use. Only voters that are ready are behind it: a learner
// refuses clients, and what is written before the cluster counts as formed might be lost.
func forClients(c *etcdv1beta2.EtcdCluster) *corev1ac.ServiceApplyConfiguration {
	voters := own(c)
	voters[voterLabel] = isVoter
	return corev1ac.Service(clientService(c), c.Namespace).WithLabels(labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithSelector(voters).
			WithPorts(port("client", etcdv1beta2.ClientPort)))
}

func port(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithProtocol(corev1.ProtocolTCP).WithPort(number).WithTargetPort(intstr.FromInt32(number))
}

// connection is what clients need, ready-made for them to mount.
func connection(c *etcdv1beta2.EtcdCluster) *corev1ac.ConfigMapApplyConfiguration {
	data := map[string]string{
		"endpoints": fmt.Sprintf("%s://%s.%s.svc%s:%d", c.ClientScheme(), clientService(c), c.Namespace, c.DomainSuffix(), etcdv1beta2.ClientPort),
	}
	if secret := c.OperatorSecret(); secret != "" {
		data["tlsSecret"] = secret
	}
	return corev1ac.ConfigMap(connectionMap(c), c.Namespace).WithLabels(labels(c)).WithData(data)
}

// disruptionBudget keeps drains from taking the quorum of those who vote now, and of those who
// shall. A learner's pod may be ready, and does not make up for a voter's.
func disruptionBudget(c *etcdv1beta2.EtcdCluster, d decision) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	voters := d.voters()
	learners := int32(len(d.members)) - voters
	return policyv1ac.PodDisruptionBudget(c.Name, c.Namespace).WithLabels(labels(c)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMinAvailable(intstr.FromInt32(max(voters, c.Spec.Size)/2 + 1 + learners)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(own(c))))
}

// claim is where a member's data is.
func (f facts) claim(c *etcdv1beta2.EtcdCluster, m member) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	return corev1ac.PersistentVolumeClaim(m.name, c.Namespace).
		WithLabels(labels(c)).
		WithAnnotations(f.marks(c, m)).
		WithAnnotations(map[string]string{claimAnnotation: encoded(termsOf(*c.Spec.Pod.PersistentVolumeClaimSpec))}).
		WithSpec(podtemplate.Convert[*corev1ac.PersistentVolumeClaimSpecApplyConfiguration](c.Spec.Pod.PersistentVolumeClaimSpec))
}

// marks say of a pod or a claim which member it is of.
func (f facts) marks(c *etcdv1beta2.EtcdCluster, m member) map[string]string {
	out := map[string]string{serialAnnotation: strconv.FormatInt(m.serial, 10)}
	if m.seed {
		out[restoreAnnotation] = c.Status.Restore.UID
	}
	if c.Status.ClusterID == "" && !m.seed {
		out[firstAnnotation] = strconv.Itoa(int(f.first(c)))
	}
	return out
}

// podLabels are those of a member's pod; the user's stand back behind ours.
func (f facts) podLabels(c *etcdv1beta2.EtcdCluster, m member) map[string]string {
	out := map[string]string{}
	if c.Spec.Pod != nil {
		maps.Copy(out, c.Spec.Pod.Labels)
	}
	maps.Copy(out, labels(c))
	out[etcdv1beta2.NodeLabel] = m.name
	delete(out, voterLabel)
	if c.Status.ClusterID != "" && !m.seed && m.started && f.mayShow(c, m) {
		out[voterLabel] = isVoter
	}
	return out
}

func (f facts) podAnnotations(c *etcdv1beta2.EtcdCluster, m member, version string) map[string]string {
	out := map[string]string{}
	if c.Spec.Pod != nil {
		maps.Copy(out, c.Spec.Pod.Annotations)
	}
	maps.Copy(out, f.marks(c, m))
	out[etcdv1beta2.VersionAnnotation] = version
	out[wishesAnnotation] = wishes(c)
	if c.Spec.Pod != nil && len(c.Spec.Pod.Resources.Limits)+len(c.Spec.Pod.Resources.Requests) > 0 {
		out[resourcesAnnotation] = encoded(c.Spec.Pod.Resources)
	}
	out[startAnnotation] = f.startOf(c, m)
	return out
}

// startOf says how a member may start now.
func (f facts) startOf(c *etcdv1beta2.EtcdCluster, m member) string {
	switch {
	case m.seed:
		return startOf(etcdstart.Restored, m.id)
	case c.Status.ClusterID == "":
		return startOf(etcdstart.Bootstrap, m.id)
	case m.started:
		return startOf(etcdstart.Established, m.id)
	}
	return startOf(etcdstart.Join, m.id)
}

func startOf(mode etcdstart.Mode, id uint64) string {
	return etcdstart.Start{Mode: mode, ID: fmt.Sprintf("%016x", id)}.String()
}

// wishes is a hash of what the user asked of pods, their version apart, which is changed in
// place. What the operator adds of its own is not in it: an upgrade of it restarts no one.
func wishes(c *etcdv1beta2.EtcdCluster) string { return wishesOf(c, c.Spec.Pod) }

// wishesOf is what it would be with another policy for pods, or none.
func wishesOf(c *etcdv1beta2.EtcdCluster, policy *etcdv1beta2.PodPolicy) string {
	return ensure.Hash(struct {
		Repository string
		Pod        *etcdv1beta2.PodPolicy
		TLS        *etcdv1beta2.TLSPolicy
		Upkeep     *podUpkeep `json:",omitempty"`
	}{c.Spec.Repository, ofPods(policy), c.Spec.TLS, podUpkeepOf(c)})
}

// ofPods is a policy without what pods are not recreated for.
func ofPods(policy *etcdv1beta2.PodPolicy) *etcdv1beta2.PodPolicy {
	out := policy.DeepCopy()
	if out != nil {
		out.PersistentVolumeClaimSpec, out.BusyboxImage, out.DNSTimeoutInSecond = nil, "", 0
	}
	return out
}

// versionOf is the version that a pod is of, or changes to.
func versionOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return strings.TrimPrefix(pod.Annotations[etcdv1beta2.VersionAnnotation], "v")
}
