// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	extraContainer = "extra"
	managerVolume  = "manager"
	// ansibleInventory tells ansible where its inventory is.
	ansibleInventory = "ANSIBLE_INVENTORY"
)

// deployment runs the manager. Where its volume is for one node at a time, the old pod goes
// before the new one comes: each would wait for the other for ever.
func (f facts) deployment(d *opsv1.Diva) *appsv1ac.DeploymentApplyConfiguration {
	ac := managers(d).Deployment(managerReplicas(d), f.managerTemplate(d))
	if !f.shared(d) {
		ac.Spec.Strategy = appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	return ac
}

// shared reports whether all volumes of the manager can be at several nodes. A claim that was
// there before is asked, and not the spec: its modes cannot change.
func (f facts) shared(d *opsv1.Diva) bool {
	return f.sharable(managers(d).Name, d.Spec.Manager.Storage) && f.sharable(extraClaim(d), d.Spec.Extra.Storage)
}

func (f facts) sharable(name string, s opsv1.Storage) bool {
	if claim := f.claims[name]; claim != nil {
		return slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteMany)
	}
	return accessMode(s) == corev1.ReadWriteMany
}

// together reports whether managers must be on the one node that has their volume.
func (f facts) together(d *opsv1.Diva) bool { return managerReplicas(d) > 1 && !f.shared(d) }

func (f facts) managerTemplate(d *opsv1.Diva) *corev1ac.PodTemplateSpecApplyConfiguration {
	part := d.Spec.Manager.Part
	mounts := []*corev1ac.VolumeMountApplyConfiguration{
		corev1ac.VolumeMount().WithName(managerVolume).WithMountPath(dataDir),
		corev1ac.VolumeMount().WithName(extraContainer).WithMountPath(extraPath(d)),
	}
	c := container(d, part).WithPorts(workload.ContainerPorts(ports(d))...).WithVolumeMounts(mounts...).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("inventory").WithMountPath(inventoryDir).WithReadOnly(true), configFile(sshConfigKey, sshConfig))
	if !slices.ContainsFunc(part.Env, func(e corev1.EnvVar) bool { return e.Name == ansibleInventory }) {
		c.WithEnv(corev1ac.EnvVar().WithName(ansibleInventory).WithValue(inventoryDir + "/" + hostsKey))
	}
	if isRoot(part) { // where every ssh looks, also one whose image includes no configuration
		for _, i := range []item{{"identity", "id_rsa"}, {"identity-next", "id_ed25519"}} {
			c.WithVolumeMounts(corev1ac.VolumeMount().WithName(filesVolume).WithMountPath("/root/.ssh/" + i.file).WithSubPath(inPlaceDir + "/" + i.key).WithReadOnly(true))
		}
	}
	template := managers(d).Template(c)
	template.Spec.WithVolumes(volume(managerVolume, managers(d).Name), volume(extraContainer, extraClaim(d)), inventoryVolume(d))
	managerFiles.mount(template.Spec, c, d, part, f.helperImage)
	template.Spec.WithInitContainers(carrier(d).WithVolumeMounts(mounts...))
	template.Spec.Containers[0] = *c
	if f.together(d) {
		template.Spec.WithAffinity(oneNode(d))
	}
	podtemplate.Override(template, part.Pod)
	return template
}

// carrier brings the manager its resources.
func carrier(d *opsv1.Diva) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName(extraContainer).WithImage(string(d.Spec.Extra.Image)).
		WithCommand(d.Spec.Extra.Command...).WithArgs(d.Spec.Extra.Args...)
}

func volume(name, claim string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).
		WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(claim))
}

// oneNode keeps managers that share a volume on the one node that has it.
func oneNode(d *opsv1.Diva) *corev1ac.AffinityApplyConfiguration {
	return corev1ac.Affinity().WithPodAffinity(corev1ac.PodAffinity().
		WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.PodAffinityTerm().
			WithTopologyKey(corev1.LabelHostname).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(managers(d).Selector))))
}
