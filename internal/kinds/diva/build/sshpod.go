// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

const (
	// AgentContainer is the name of the container that updates the SSH files when the Secret changes.
	AgentContainer = "ssh-files"
	// filesDir is the folder in pods with the files from the Secret.
	filesDir = "/etc/opcrew/ssh"
	// The agent's volumes: the Secret, and the files in memory. One directory of them is mounted as a whole, and the
	// files of another one are mounted one by one.
	sourceVolume, filesVolume = "ssh-source", "ssh-files"
	sourceMount, filesMount   = "/run/opcrew/secret", "/run/opcrew/ssh"
	liveDir, inPlaceDir       = "live", "in-place"
	// articleVolume is the volume with the Secret in the article.
	articleVolume = "diva-client-ssh"
	// podNameVariable has the name of the pod, in the agent.
	podNameVariable = "POD_NAME"
)

// item is a key of the Secret, and the name of its file.
type item struct{ key, file string }

var (
	clientItems = []item{{ring.AuthorizedKeys, "authorized_keys"}, {ring.HostSeed, sshkeys.SeedFile}}
	// There is no public key beside the private one: ssh would offer it, and one of another pair
	// for the moment between the two files that change.
	managerItems = []item{{ring.IdentityKey, "identity"}, {ring.NextIdentityKey, "identity-next"}, {ring.KnownHosts, "known_hosts"}}
	// The article mounts the private key in clients, too. No server needs it.
	articleItems = []item{{ring.PublicKey, "id_rsa.pub"}}
)

// files are what the agent of a pod serves. required are those without which the pod
// does not start; inPlace has them in a second directory, to be mounted one by one. ofHost has the agent derive the
// host key of its pod.
type files struct {
	secret   func(*opsv1.Diva) string
	items    []item
	required []string
	inPlace  bool
	ofHost   bool
}

var (
	clientFiles  = files{secret: names.ServerSecretName, items: clientItems, required: []string{"authorized_keys", sshkeys.SeedFile}, ofHost: true}
	managerFiles = files{secret: names.SecretName, items: managerItems, required: []string{"identity", "identity-next"}, inPlace: true}
)

// mount adds ssh files to a pod: the Secret, the agent that copies its files for the pod's user, and the mounts of the
// container.
func (s files) mount(spec *corev1ac.PodSpecApplyConfiguration, c *corev1ac.ContainerApplyConfiguration, d *opsv1.Diva, part opsv1.Part, agentImage string) {
	spec.WithVolumes(
		// Keys that are not there now may come: a pod waits for those that it cannot do without.
		corev1ac.Volume().WithName(sourceVolume).WithSecret(secretVolume(s.secret(d), s.items, 0o440).WithOptional(true)),
		corev1ac.Volume().WithName(filesVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource().
			WithMedium(corev1.StorageMediumMemory).WithSizeLimit(resource.MustParse("1Mi"))))
	spec.WithInitContainers(s.agent(agentImage, runAs(part)))
	if part.RunAsUser != nil {
		spec.SecurityContext.WithRunAsUser(runAs(part)).WithRunAsGroup(runAs(part))
	}
	if !isRoot(part) { // root's ssh refuses a key that a group can read
		spec.SecurityContext.WithFSGroup(runAs(part)).WithRunAsNonRoot(true)
	}
	c.WithVolumeMounts(corev1ac.VolumeMount().WithName(filesVolume).WithMountPath(filesDir).WithSubPath(liveDir).WithReadOnly(true))
}

// runAs returns the user of a part, which is root by default.
func runAs(part opsv1.Part) int64 {
	if part.RunAsUser == nil {
		return 0
	}
	return *part.RunAsUser
}

// isRoot reports whether a part runs as root, in whose home directory the article's mounts are.
func isRoot(part opsv1.Part) bool { return runAs(part) == 0 }

func secretVolume(name string, items []item, mode int32) *corev1ac.SecretVolumeSourceApplyConfiguration {
	source := corev1ac.SecretVolumeSource().WithSecretName(name).WithDefaultMode(mode)
	for _, i := range items {
		source.WithItems(corev1ac.KeyToPath().WithKey(i.key).WithPath(i.file))
	}
	return source
}

// agent returns the sidecar that updates the files. It starts before the other containers, which wait until the files
// exist. It runs as their user, because ssh refuses a private key that other users can read.
func (s files) agent(image string, user int64) *corev1ac.ContainerApplyConfiguration {
	args := []string{"ssh-files", "--from", sourceMount, "--to", filesMount + "/" + liveDir}
	for _, name := range s.required {
		args = append(args, "--require", name)
	}
	if s.inPlace {
		args = append(args, "--in-place", filesMount+"/"+inPlaceDir)
	}
	c := corev1ac.Container().WithName(AgentContainer)
	if s.ofHost {
		args = append(args, "--host-key-of", "$("+podNameVariable+")")
		c.WithEnv(corev1ac.EnvVar().WithName(podNameVariable).
			WithValueFrom(corev1ac.EnvVarSource().WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.name"))))
	}
	return c.
		WithImage(image).WithImagePullPolicy(corev1.PullIfNotPresent).
		WithRestartPolicy(corev1.ContainerRestartPolicyAlways).
		WithArgs(args...).
		WithStartupProbe(corev1ac.Probe().WithPeriodSeconds(1).WithFailureThreshold(3600).
			WithExec(corev1ac.ExecAction().WithCommand("/opcrew-agent", "ssh-files", "--check", "--to", filesMount+"/"+liveDir))).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("16Mi")}).
			WithLimits(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")})).
		WithSecurityContext(corev1ac.SecurityContext().
			WithRunAsUser(user).WithRunAsGroup(user).
			WithAllowPrivilegeEscalation(false).WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(sourceVolume).WithMountPath(sourceMount).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(filesVolume).WithMountPath(filesMount))
}

// configFile mounts one file of the inventory's ConfigMap next to files of the image.
func configFile(key, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName("inventory").WithMountPath(path).WithSubPath(key).WithReadOnly(true)
}

func inventoryVolume(d *opsv1.Diva) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName("inventory").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(names.InventoryName(d)))
}

// SharesHostKey reports whether clients of a pod spec are of an earlier version: they mount the Secret with the pair,
// have its private key, and share one host key.
func SharesHostKey(d *opsv1.Diva, spec corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil && v.Secret.SecretName == names.SecretName(d)
	})
}
