// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package build builds the objects of a Diva: Services, policies, the inventory of client pods and the workloads. The
// caller makes all decisions and passes them as arguments.
package build

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// dataDir is the path in pods where the storage is mounted, as in the tutorial article that this API comes from.
const dataDir = "/wi"

// ClientService returns the headless Service of the client pods. Each of them has a DNS name even while it is not
// ready. A manager pod that connects to a client pod that is down then sees an unreachable host instead of an unknown
// name.
func ClientService(d *opsv1.Diva) *corev1ac.ServiceApplyConfiguration {
	id := names.Clients(d)
	return corev1ac.Service(id.Name, id.Namespace).WithLabels(id.Labels).
		WithSpec(corev1ac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(id.Selector).
			WithPorts(corev1ac.ServicePort().WithName("ssh").WithProtocol(corev1.ProtocolTCP).
				WithPort(names.SSHPort(d)).WithTargetPort(intstr.FromInt32(names.SSHPort(d)))))
}

// SSHPolicy returns the NetworkPolicy that allows only manager pods to connect to the client pods' sshd. It has no
// effect if the cluster network does not enforce policies. All other ports of the client pods stay open.
func SSHPolicy(d *opsv1.Diva) *networkingv1ac.NetworkPolicyApplyConfiguration {
	id := names.Clients(d)
	others := networkingv1ac.NetworkPolicyIngressRule().
		WithPorts(portRange(corev1.ProtocolUDP, 1, 65535), portRange(corev1.ProtocolSCTP, 1, 65535))
	if port := names.SSHPort(d); port > 1 {
		others.WithPorts(portRange(corev1.ProtocolTCP, 1, port-1))
	}
	if port := names.SSHPort(d); port < 65535 {
		others.WithPorts(portRange(corev1.ProtocolTCP, port+1, 65535))
	}
	return networkingv1ac.NetworkPolicy(id.Name, id.Namespace).WithLabels(id.Labels).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector)).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(
				networkingv1ac.NetworkPolicyIngressRule().
					WithFrom(networkingv1ac.NetworkPolicyPeer().WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(names.Managers(d).Selector))).
					WithPorts(networkingv1ac.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromInt32(names.SSHPort(d)))),
				others))
}

func portRange(protocol corev1.Protocol, from, to int32) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt32(from)).WithEndPort(to)
}

// StatefulSet returns the StatefulSet of the client pods. They start in parallel, because they do not depend on each
// other, and a pod with a bad image must not block a rollback.
func StatefulSet(d *opsv1.Diva, replicas int32, claim resource.Quantity, agentImage string) *appsv1ac.StatefulSetApplyConfiguration {
	id := names.Clients(d)
	const retain = appsv1.RetainPersistentVolumeClaimRetentionPolicyType // opcrew deletes claims by owner references: see ownerPatches in package storage
	return appsv1ac.StatefulSet(id.Name, id.Namespace).WithLabels(id.Labels).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(replicas).
			WithServiceName(id.Name).
			WithPodManagementPolicy(appsv1.ParallelPodManagement).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(id.Selector)).
			WithPersistentVolumeClaimRetentionPolicy(appsv1ac.StatefulSetPersistentVolumeClaimRetentionPolicy().
				WithWhenDeleted(retain).WithWhenScaled(retain)).
			WithVolumeClaimTemplates(storage.Template(d, claim)).
			WithTemplate(ClientTemplate(d, agentImage)))
}

// ClientTemplate returns the template of client pods.
func ClientTemplate(d *opsv1.Diva, agentImage string) *corev1ac.PodTemplateSpecApplyConfiguration {
	part, port := d.Spec.Client.Part, names.SSHPort(d)
	c := container(d, part).WithSecurityContext(sshServer(part)).
		WithPorts(corev1ac.ContainerPort().WithName("ssh").WithContainerPort(port).WithProtocol(corev1.ProtocolTCP)).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(names.ClaimTemplate).WithMountPath(dataDir), configFile(sshdConfigKey, sshdConfig))
	if c.ReadinessProbe == nil {
		c.WithReadinessProbe(corev1ac.Probe().WithPeriodSeconds(5).
			WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromInt32(port))))
	}
	template := names.Clients(d).Template(c)
	template.Spec.WithVolumes(inventoryVolume(d))
	// The manifest in the tutorial article that this API comes from mounts these files in /root/.ssh. opcrew leaves out
	// the private key.
	if isRoot(part) {
		template.Spec.WithVolumes(corev1ac.Volume().WithName(articleVolume).WithSecret(secretVolume(names.ServerSecretName(d), articleItems, 0o600)))
		for _, i := range articleItems {
			c.WithVolumeMounts(corev1ac.VolumeMount().WithName(articleVolume).WithMountPath("/root/.ssh/" + i.file).WithSubPath(i.file))
		}
	}
	clientFiles.mount(template.Spec, c, d, part, agentImage)
	template.Spec.Containers[0] = *c
	podtemplate.Override(template, part.Pod)
	return template
}

// container returns the main container of a part (client or manager). It has the name of the Diva.
func container(d *opsv1.Diva, part opsv1.Part) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().WithName(d.Name).WithImage(string(part.Image))
	workload.WithResources(c, part.Resources)
	workload.WithEnvs(c, part.Env)
	if p := part.Probes; p != nil {
		c.ReadinessProbe, c.LivenessProbe, c.StartupProbe = probe(p.Readiness), probe(p.Liveness), probe(p.Startup)
	}
	return c
}

func probe(p *corev1.Probe) *corev1ac.ProbeApplyConfiguration {
	if p == nil {
		return nil
	}
	return podtemplate.Convert[*corev1ac.ProbeApplyConfiguration](p)
}
