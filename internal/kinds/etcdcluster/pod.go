// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	container = "etcd"
	// user runs etcd where the spec does not name another.
	user = 1000

	dataVolume, dataMount     = "etcd-data", "/var/etcd"
	helperVolume, helperMount = "opcrew", "/opcrew"
	startVolume, startMount   = "opcrew-start", "/etc/opcrew"
	latchVolume, latchMount   = "opcrew-latch", "/var/opcrew"
	helper                    = helperMount + "/opcrew-helper"

	// gatePort is where the gate says how the member is; metricsPort is etcd's own, for it.
	gatePort, metricsPort = 2382, 2381
)

// pod is a member's. It runs etcd under the gate, which lets it start on an empty volume only
// as the start annotation says: see internal/agents/etcdgate.
func (f facts) pod(c *etcdv1beta2.EtcdCluster, m member, all []member, version string) *corev1ac.PodApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithInitContainers(f.installer()).
		WithContainers(f.etcd(c, m, all, version)).
		WithVolumes(volumes(c, m)...).
		WithRestartPolicy(corev1.RestartPolicyAlways).
		WithHostname(m.name).
		WithSubdomain(c.Name).
		WithEnableServiceLinks(false).
		WithAutomountServiceAccountToken(false).
		WithSecurityContext(securityContext(c))
	placement(spec, c)
	return corev1ac.Pod(m.name, c.Namespace).
		WithLabels(f.podLabels(c, m)).
		WithAnnotations(f.podAnnotations(c, m, version)).
		WithSpec(spec)
}

// installer puts the helper into the pod: images of etcd hold nothing but etcd.
func (f facts) installer() *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName("install-helper").
		WithImage(f.helperImage).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithArgs("install", "--to="+helper).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")})).
		WithSecurityContext(workload.Locked()).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(helperVolume).WithMountPath(helperMount))
}

func (f facts) etcd(c *etcdv1beta2.EtcdCluster, m member, all []member, version string) *corev1ac.ContainerApplyConfiguration {
	probe := func(path string, period, failures int32) *corev1ac.ProbeApplyConfiguration {
		return corev1ac.Probe().WithPeriodSeconds(period).WithTimeoutSeconds(6).WithFailureThreshold(failures).
			WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(gatePort)))
	}
	flags := f.flags(c, m, all, version)
	out := corev1ac.Container().WithName(container).
		WithImage(image(c, version)).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithCommand(gate(c, m, version)...).
		WithArgs(flags...).
		WithPorts(
			corev1ac.ContainerPort().WithName("server").WithContainerPort(etcdv1beta2.PeerPort).WithProtocol(corev1.ProtocolTCP),
			corev1ac.ContainerPort().WithName("client").WithContainerPort(etcdv1beta2.ClientPort).WithProtocol(corev1.ProtocolTCP)).
		WithReadinessProbe(probe("/readyz", 1, 3)).
		WithLivenessProbe(probe("/livez", 10, 3)).
		WithSecurityContext(workload.Locked()).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(dataVolume).WithMountPath(dataMount),
			corev1ac.VolumeMount().WithName(helperVolume).WithMountPath(helperMount).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(startVolume).WithMountPath(startMount).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(latchVolume).WithMountPath(latchMount)).
		WithVolumeMounts(tlsMounts(c)...)
	out.WithEnv(podUpkeepOf(c).environment()...)
	if c.Spec.Pod != nil {
		out.WithResources(podtemplate.Convert[*corev1ac.ResourceRequirementsApplyConfiguration](c.Spec.Pod.Resources))
	}
	for _, env := range passedOn(c, flags) {
		out.WithEnv(podtemplate.Convert[*corev1ac.EnvVarApplyConfiguration](env))
	}
	return out
}

func image(c *etcdv1beta2.EtcdCluster, version string) string {
	return cmp.Or(c.Spec.Repository, etcdv1beta2.DefaultRepository) + ":v" + version
}

// gate is the command under which etcd runs.
func gate(c *etcdv1beta2.EtcdCluster, m member, version string) []string {
	out := []string{helper, "run-etcd",
		"--cluster=" + string(c.UID), "--member=" + m.name,
		"--data-dir=" + dataMount + "/data", "--marker=" + dataMount + "/opcrew.json",
		"--start-file=" + startMount + "/start", "--latch=" + latchMount + "/part",
		fmt.Sprintf("--listen=:%d", gatePort), fmt.Sprintf("--client-address=127.0.0.1:%d", etcdv1beta2.ClientPort),
	}
	if measured(version) {
		out = append(out, fmt.Sprintf("--metrics-url=http://127.0.0.1:%d", metricsPort))
	} else {
		out = append(out, "--metrics-url=")
	}
	if !readsHealth(version) {
		out = append(out, "--ready-by-leader")
	}
	return append(out, "--", "/usr/local/bin/etcd")
}

// flags are etcd's own.
func (f facts) flags(c *etcdv1beta2.EtcdCluster, m member, all []member, version string) []string {
	peers := make([]string, 0, len(all))
	for _, other := range all {
		peers = append(peers, other.name+"="+c.PeerURL(other.name))
	}
	state := "existing"
	if c.Status.ClusterID == "" {
		state = "new"
	}
	out := []string{
		"--name=" + m.name,
		"--data-dir=" + dataMount + "/data",
		"--initial-advertise-peer-urls=" + c.PeerURL(m.name),
		fmt.Sprintf("--listen-peer-urls=%s://0.0.0.0:%d", c.PeerScheme(), etcdv1beta2.PeerPort),
		fmt.Sprintf("--listen-client-urls=%s://0.0.0.0:%d", c.ClientScheme(), etcdv1beta2.ClientPort),
		"--advertise-client-urls=" + c.ClientURL(m.name),
		"--initial-cluster=" + strings.Join(peers, ","),
		"--initial-cluster-state=" + state,
		"--initial-cluster-token=" + string(c.UID),
	}
	if measured(version) {
		out = append(out, fmt.Sprintf("--listen-metrics-urls=http://127.0.0.1:%d", metricsPort))
	}
	return append(out, tlsFlags(c)...)
}

func volumes(c *etcdv1beta2.EtcdCluster, m member) []*corev1ac.VolumeApplyConfiguration {
	data := corev1ac.Volume().WithName(dataVolume)
	if persistent(c) {
		data.WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(m.name))
	} else {
		data.WithEmptyDir(corev1ac.EmptyDirVolumeSource())
	}
	out := []*corev1ac.VolumeApplyConfiguration{
		data,
		corev1ac.Volume().WithName(helperVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
		corev1ac.Volume().WithName(latchVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
		corev1ac.Volume().WithName(startVolume).WithDownwardAPI(corev1ac.DownwardAPIVolumeSource().
			WithItems(corev1ac.DownwardAPIVolumeFile().WithPath("start").
				WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.annotations['" + startAnnotation + "']")))),
	}
	return append(out, tlsVolumes(c)...)
}

// runsSince is since when etcd has been running in a pod.
func runsSince(pod *corev1.Pod) time.Time {
	if pod == nil {
		return time.Time{}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container && status.State.Running != nil {
			return status.State.Running.StartedAt.Time
		}
	}
	return time.Time{}
}
