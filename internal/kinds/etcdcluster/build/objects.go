// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// PeerService declares the headless Service that gives members their DNS names. It includes pods that are not ready, as
// members need to reach each other to become ready.
func PeerService(c *etcdv1beta2.EtcdCluster) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(c.Name, c.Namespace).WithLabels(model.Labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(model.OwnSelector(c)).
			WithPorts(port("client", etcdv1beta2.ClientPort), port("peer", etcdv1beta2.PeerPort)))
}

// ClientService declares the Service for clients. It selects the pods of voters only, because a learner refuses
// clients. No pod has the voter label before the first members have a quorum, because writes before that might be lost.
func ClientService(c *etcdv1beta2.EtcdCluster) *corev1ac.ServiceApplyConfiguration {
	voters := model.OwnSelector(c)
	voters[model.VoterLabel] = model.IsVoter
	return corev1ac.Service(model.ClientService(c), c.Namespace).WithLabels(model.Labels(c)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithSelector(voters).
			WithPorts(port("client", etcdv1beta2.ClientPort)))
}

func port(name string, number int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().WithName(name).WithProtocol(corev1.ProtocolTCP).WithPort(number).WithTargetPort(intstr.FromInt32(number))
}

// Connection declares a ConfigMap that describes the connection; the pods of applications can mount it.
func Connection(c *etcdv1beta2.EtcdCluster) *corev1ac.ConfigMapApplyConfiguration {
	data := map[string]string{
		"endpoints": fmt.Sprintf("%s://%s.%s.svc%s:%d", c.ClientScheme(), model.ClientService(c), c.Namespace, c.DomainSuffix(), etcdv1beta2.ClientPort),
	}
	if secret := c.OperatorSecret(); secret != "" {
		data["tlsSecret"] = secret
	}
	return corev1ac.ConfigMap(model.ConnectionMap(c), c.Namespace).WithLabels(model.Labels(c)).WithData(data)
}

// DisruptionBudget declares a budget that protects the quorum during drains, for both the current and the desired
// number of voters. The budget counts all ready pods, including those of learners. Learners do not count for the
// quorum, so the minimum is higher by the number of learners.
func DisruptionBudget(c *etcdv1beta2.EtcdCluster, members []model.Member) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	voters := model.Voters(members)
	learners := int32(len(members)) - voters
	return policyv1ac.PodDisruptionBudget(c.Name, c.Namespace).WithLabels(model.Labels(c)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMinAvailable(intstr.FromInt32(max(voters, c.Spec.Size)/2 + 1 + learners)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(model.OwnSelector(c))))
}

// NetworkPolicy opens the client port to clients, the operator and backup pods, and the peer port to members only.
// Kubelet probes come from the node, which the policy does not restrict. Metrics are served on the client port.
func NetworkPolicy(c *etcdv1beta2.EtcdCluster, operator string) *networkingv1ac.NetworkPolicyApplyConfiguration {
	id := workload.Identity{Namespace: c.Namespace, Name: c.Name, Labels: model.Labels(c), Selector: model.OwnSelector(c)}
	return id.NetworkPolicy(workload.Network{
		Clients: workload.TCP(etcdv1beta2.ClientPort), Inner: workload.TCP(etcdv1beta2.PeerPort),
		Access: c.Spec.Access, Helpers: []map[string]string{backuppod.Labels()}, Operator: operator,
	})
}

// Claim declares the claim for a member's data.
func (b Builder) Claim(m model.Member) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	spec := b.Cluster.Spec.Pod.PersistentVolumeClaimSpec
	return corev1ac.PersistentVolumeClaim(m.Name, b.Cluster.Namespace).
		WithLabels(model.Labels(b.Cluster)).
		WithAnnotations(b.marks(m)).
		WithAnnotations(map[string]string{volumes.ClaimAnnotation: settings.EncodeJSON(volumes.TermsOf(*spec))}).
		WithSpec(podtemplate.Convert[*corev1ac.PersistentVolumeClaimSpecApplyConfiguration](spec))
}

// marks returns the annotations by which opcrew recognizes the member that a pod or claim belongs to.
func (b Builder) marks(m model.Member) map[string]string {
	out := map[string]string{model.SerialAnnotation: strconv.FormatInt(m.Serial, 10)}
	if m.Seed {
		out[model.RestoreAnnotation] = b.Cluster.Status.Restore.UID
	}
	if !b.formed() && !m.Seed {
		out[model.FirstMembersAnnotation] = strconv.Itoa(int(b.FirstMembers))
	}
	return out
}

// podLabels returns the labels of a member's pod. Labels of the spec cannot replace opcrew's own labels.
func (b Builder) podLabels(m model.Member) map[string]string {
	out := maps.Clone(settings.PodPolicy(b.Cluster).Labels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, model.Labels(b.Cluster))
	out[etcdv1beta2.NodeLabel] = m.Name
	delete(out, model.VoterLabel)
	if b.formed() && !m.Seed && m.Started && m.Voter() && !b.FormerServes {
		out[model.VoterLabel] = model.IsVoter
	}
	return out
}

func (b Builder) podAnnotations(m model.Member, version string) map[string]string {
	policy := settings.PodPolicy(b.Cluster)
	out := maps.Clone(policy.Annotations)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b.marks(m))
	out[etcdv1beta2.VersionAnnotation] = version
	out[model.SettingsAnnotation] = settings.Hash(b.Cluster)
	if len(policy.Resources.Limits)+len(policy.Resources.Requests) > 0 {
		out[settings.ResourcesAnnotation] = settings.EncodeJSON(policy.Resources)
	}
	out[model.StartAnnotation] = b.StartOf(m)
	return out
}

// StartOf returns the value of the pod's start annotation, which says whether etcd may start on an empty volume, and
// how.
func (b Builder) StartOf(m model.Member) string {
	switch {
	case m.Seed:
		return model.StartAs(etcdstart.Restored, m.ID)
	case !b.formed():
		return model.StartAs(etcdstart.Bootstrap, m.ID)
	case m.Started:
		return model.StartAs(etcdstart.Established, m.ID)
	}
	return model.StartAs(etcdstart.Join, m.ID)
}
