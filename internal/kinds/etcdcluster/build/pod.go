// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package build declares the objects of an EtcdCluster: pods, claims, Services, NetworkPolicy and disruption budget. It
// also declares patches of pods. The parent package decides when each object exists.
package build

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// user is the default uid and gid that etcd runs with.
	user = 1000

	dataVolume, dataMount   = "etcd-data", "/var/etcd"
	agentVolume, agentMount = "opcrew", "/opcrew"
	startVolume, startMount = "opcrew-start", "/etc/opcrew"
	latchVolume, latchMount = "opcrew-latch", "/var/opcrew"
	agentBinary             = agentMount + "/opcrew-agent"

	// gatePort is where the gate (opcrew's agent, which starts etcd) serves the kubelet's probes. On metricsPort, etcd
	// serves its own health and metrics, which the gate reads.
	gatePort, metricsPort = 2382, 2381
)

// Pod declares a member's pod. In it, opcrew's agent (the gate, internal/agents/etcdgate) starts etcd. The gate lets
// etcd start on an empty volume only if the pod's start annotation permits it.
func (b Builder) Pod(m model.Member, all []model.Member, version string) *corev1ac.PodApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithInitContainers(b.installer()).
		WithContainers(b.etcd(m, all, version)).
		WithVolumes(podVolumes(b.Cluster, m)...).
		WithRestartPolicy(corev1.RestartPolicyAlways).
		WithHostname(m.Name).
		WithSubdomain(b.Cluster.Name).
		WithEnableServiceLinks(false).
		WithAutomountServiceAccountToken(false).
		WithSecurityContext(securityContext(b.Cluster))
	placement(spec, b.Cluster)
	return corev1ac.Pod(m.Name, b.Cluster.Namespace).
		WithLabels(b.podLabels(m)).
		WithAnnotations(b.podAnnotations(m, version)).
		WithSpec(spec)
}

// installer returns the init container that copies opcrew's agent into the pod, as etcd's images contain only etcd.
func (b Builder) installer() *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName("install-agent").
		WithImage(b.AgentImage).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithArgs("install", "--to="+agentBinary).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")}).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")})).
		WithSecurityContext(workload.Restricted()).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(agentVolume).WithMountPath(agentMount))
}

func (b Builder) etcd(m model.Member, all []model.Member, version string) *corev1ac.ContainerApplyConfiguration {
	c := b.Cluster
	probe := func(path string, period, failures int32) *corev1ac.ProbeApplyConfiguration {
		return corev1ac.Probe().WithPeriodSeconds(period).WithTimeoutSeconds(6).WithFailureThreshold(failures).
			WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(gatePort)))
	}
	args := flags(c, m, all, version)
	out := corev1ac.Container().WithName(model.Container).
		WithImage(image(c, version)).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithCommand(gate(c, m, version)...).
		WithArgs(args...).
		WithPorts(
			corev1ac.ContainerPort().WithName("server").WithContainerPort(etcdv1beta2.PeerPort).WithProtocol(corev1.ProtocolTCP),
			corev1ac.ContainerPort().WithName("client").WithContainerPort(etcdv1beta2.ClientPort).WithProtocol(corev1.ProtocolTCP)).
		WithReadinessProbe(probe("/readyz", 1, 3)).
		WithLivenessProbe(probe("/livez", 10, 3)).
		WithSecurityContext(workload.Restricted()).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(dataVolume).WithMountPath(dataMount),
			corev1ac.VolumeMount().WithName(agentVolume).WithMountPath(agentMount).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(startVolume).WithMountPath(startMount).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(latchVolume).WithMountPath(latchMount)).
		WithVolumeMounts(tlsMounts(c)...)
	out.WithEnv(settings.ForPods(c).Environment()...)
	if c.Spec.Pod != nil {
		out.WithResources(podtemplate.Convert[*corev1ac.ResourceRequirementsApplyConfiguration](c.Spec.Pod.Resources))
	}
	for _, env := range passedOn(c, args) {
		out.WithEnv(podtemplate.Convert[*corev1ac.EnvVarApplyConfiguration](env))
	}
	return out
}

func image(c *etcdv1beta2.EtcdCluster, version string) string {
	return cmp.Or(c.Spec.Repository, etcdv1beta2.DefaultRepository) + ":v" + version
}

// gate returns the command of etcd's container: opcrew's agent, which starts etcd and serves the probes.
func gate(c *etcdv1beta2.EtcdCluster, m model.Member, version string) []string {
	out := []string{agentBinary, "run-etcd",
		"--cluster=" + string(c.UID), "--member=" + m.Name,
		"--data-dir=" + dataMount + "/data", "--marker=" + dataMount + "/opcrew.json",
		"--start-file=" + startMount + "/start", "--latch=" + latchMount + "/part",
		fmt.Sprintf("--listen=:%d", gatePort), fmt.Sprintf("--client-address=127.0.0.1:%d", etcdv1beta2.ClientPort),
	}
	if versions.HasMetricsListener(version) {
		out = append(out, fmt.Sprintf("--metrics-url=http://127.0.0.1:%d", metricsPort))
	} else {
		out = append(out, "--metrics-url=")
	}
	if !versions.HasQuietHealth(version) {
		out = append(out, "--ready-by-leader")
	}
	return append(out, "--", "/usr/local/bin/etcd")
}

// flags returns the command-line flags for etcd.
func flags(c *etcdv1beta2.EtcdCluster, m model.Member, all []model.Member, version string) []string {
	peers := make([]string, 0, len(all))
	for _, other := range all {
		peers = append(peers, other.Name+"="+c.PeerURL(other.Name))
	}
	state := "existing"
	if c.Status.ClusterID == "" {
		state = "new"
	}
	out := []string{
		"--name=" + m.Name,
		"--data-dir=" + dataMount + "/data",
		"--initial-advertise-peer-urls=" + c.PeerURL(m.Name),
		fmt.Sprintf("--listen-peer-urls=%s://0.0.0.0:%d", c.PeerScheme(), etcdv1beta2.PeerPort),
		fmt.Sprintf("--listen-client-urls=%s://0.0.0.0:%d", c.ClientScheme(), etcdv1beta2.ClientPort),
		"--advertise-client-urls=" + c.ClientURL(m.Name),
		"--initial-cluster=" + strings.Join(peers, ","),
		"--initial-cluster-state=" + state,
		"--initial-cluster-token=" + string(c.UID),
	}
	if versions.HasMetricsListener(version) {
		out = append(out, fmt.Sprintf("--listen-metrics-urls=http://127.0.0.1:%d", metricsPort))
	}
	return append(out, tlsFlags(c)...)
}

func podVolumes(c *etcdv1beta2.EtcdCluster, m model.Member) []*corev1ac.VolumeApplyConfiguration {
	data := corev1ac.Volume().WithName(dataVolume)
	if model.Persistent(c) {
		data.WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(m.Name))
	} else {
		data.WithEmptyDir(corev1ac.EmptyDirVolumeSource())
	}
	out := []*corev1ac.VolumeApplyConfiguration{
		data,
		corev1ac.Volume().WithName(agentVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
		corev1ac.Volume().WithName(latchVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
		corev1ac.Volume().WithName(startVolume).WithDownwardAPI(corev1ac.DownwardAPIVolumeSource().
			WithItems(corev1ac.DownwardAPIVolumeFile().WithPath("start").
				WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.annotations['" + model.StartAnnotation + "']")))),
	}
	return append(out, tlsVolumes(c)...)
}
