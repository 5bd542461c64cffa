// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	extraContainer = "extra"
	managerVolume  = "manager"
	// ansibleInventory is the environment variable that gives ansible the path of its inventory.
	ansibleInventory = "ANSIBLE_INVENTORY"
)

// LoginAnnotation of manager pods has the user and the port of their logins.
const LoginAnnotation = "opcrew.io/ssh-login"

// Deployment returns the Deployment of the manager pods. If only one node can mount the volumes, the old pod is stopped
// before the new pod starts. Otherwise the new pod would wait for the volume, which the old pod keeps until the new pod
// is ready.
func Deployment(d *opsv1.Diva, shared bool, agentImage string) *appsv1ac.DeploymentApplyConfiguration {
	ac := names.Managers(d).Deployment(names.ManagerReplicas(d), ManagerTemplate(d, shared, agentImage))
	if !shared {
		ac.Spec.Strategy = appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	return ac
}

// together reports whether all manager pods must run on one node, because only one node at a time can mount their
// volumes.
func together(d *opsv1.Diva, shared bool) bool { return names.ManagerReplicas(d) > 1 && !shared }

// ManagerTemplate returns the template of manager pods. shared reports whether several nodes can mount the volumes of
// the manager pods at the same time.
func ManagerTemplate(d *opsv1.Diva, shared bool, agentImage string) *corev1ac.PodTemplateSpecApplyConfiguration {
	part := d.Spec.Manager.Part
	mounts := []*corev1ac.VolumeMountApplyConfiguration{
		corev1ac.VolumeMount().WithName(managerVolume).WithMountPath(dataDir),
		corev1ac.VolumeMount().WithName(extraContainer).WithMountPath(names.ExtraPath(d)),
	}
	c := container(d, part).WithSecurityContext(ordinary(part)).WithPorts(workload.ContainerPorts(names.Ports(d))...).WithVolumeMounts(mounts...).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("inventory").WithMountPath(inventoryDir).WithReadOnly(true), configFile(sshConfigKey, sshConfig))
	if !slices.ContainsFunc(part.Env, func(e corev1.EnvVar) bool { return e.Name == ansibleInventory }) {
		c.WithEnv(corev1ac.EnvVar().WithName(ansibleInventory).WithValue(inventoryDir + "/" + HostsKey))
	}
	if isRoot(part) { // ssh reads this path by default, even in an image without an ssh configuration
		for _, i := range []item{{"identity", "id_rsa"}, {"identity-next", "id_ed25519"}} {
			c.WithVolumeMounts(corev1ac.VolumeMount().WithName(filesVolume).WithMountPath("/root/.ssh/" + i.file).WithSubPath(inPlaceDir + "/" + i.key).WithReadOnly(true))
		}
	}
	template := names.Managers(d).Template(c)
	// Containers never see a change of a single mounted file, such as ssh's options, so new pods are needed for it.
	template.WithAnnotations(map[string]string{LoginAnnotation: fmt.Sprintf("%s:%d", names.SSHUser(d), names.SSHPort(d))})
	template.Spec.WithVolumes(volume(managerVolume, names.Managers(d).Name), volume(extraContainer, names.ExtraClaim(d)), inventoryVolume(d))
	managerFiles.mount(template.Spec, c, d, part, agentImage)
	template.Spec.WithInitContainers(carrier(d).WithVolumeMounts(mounts...))
	template.Spec.Containers[0] = *c
	if together(d, shared) {
		template.Spec.WithAffinity(oneNode(d))
	}
	podtemplate.Override(template, part.Pod)
	return template
}

// carrier returns the init container (spec.extra) that copies files into the manager pods' volumes.
func carrier(d *opsv1.Diva) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName(extraContainer).WithImage(string(d.Spec.Extra.Image)).
		WithCommand(d.Spec.Extra.Command...).WithArgs(d.Spec.Extra.Args...).
		WithSecurityContext(ordinary(d.Spec.Manager.Part))
}

func volume(name, claim string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).
		WithPersistentVolumeClaim(corev1ac.PersistentVolumeClaimVolumeSource().WithClaimName(claim))
}

// oneNode returns an affinity that keeps all manager pods on the node that has mounted their shared volume.
func oneNode(d *opsv1.Diva) *corev1ac.AffinityApplyConfiguration {
	return corev1ac.Affinity().WithPodAffinity(corev1ac.PodAffinity().
		WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.PodAffinityTerm().
			WithTopologyKey(corev1.LabelHostname).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(names.Managers(d).Selector))))
}
