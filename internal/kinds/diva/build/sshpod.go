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
	// AgentContainer is the name of the sidecar container that updates the SSH files in a pod when the Secret changes.
	AgentContainer = "ssh-files"
	// filesDir is the folder with the SSH files in the main container of a pod.
	filesDir = "/etc/opcrew/ssh"
	// The agent has two volumes: the Secret, and a volume in memory for the files. Containers mount the directory at
	// liveDir as a whole, but mount single files from inPlaceDir.
	sourceVolume, filesVolume = "ssh-source", "ssh-files"
	sourceMount, filesMount   = "/run/opcrew/secret", "/run/opcrew/ssh"
	liveDir, inPlaceDir       = "live", "in-place"
	// articleVolume is the name of the volume with SSH files in the tutorial article that this API comes from.
	articleVolume = "diva-client-ssh"
	// podNameVariable is the environment variable of the agent that holds the name of its pod.
	podNameVariable = "POD_NAME"
)

// item is a key of the Secret and the name of the file in the pod that holds its value.
type item struct{ key, file string }

var (
	clientItems = []item{{ring.AuthorizedKeys, "authorized_keys"}, {ring.HostSeed, sshkeys.SeedFile}}
	// Manager pods get no public key files. If there were one, ssh would offer its key to a server, and while the files
	// are being replaced, this public key might not match the private key.
	managerItems = []item{{ring.IdentityKey, "identity"}, {ring.NextIdentityKey, "identity-next"}, {ring.KnownHosts, "known_hosts"}}
	// The manifest in the tutorial article that this API comes from also mounts the private key in client pods. opcrew
	// does not, because no SSH server needs it.
	articleItems = []item{{ring.PublicKey, "id_rsa.pub"}}
)

// files describes which files the agent of a pod writes from a Secret. The main container starts only when the required
// files exist. With inPlace, the agent also writes the files to a second directory, for mounts of single files. With
// ofHost, the agent derives the host key of its pod from a seed (random bytes) in the Secret.
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

// mount adds three things to a pod: the volume with the Secret, the agent that writes the files of the Secret as the
// user of the pod, and the mounts of the main container.
func (s files) mount(spec *corev1ac.PodSpecApplyConfiguration, c *corev1ac.ContainerApplyConfiguration, d *opsv1.Diva, part opsv1.Part, agentImage string) {
	spec.WithVolumes(
		// The Secret is optional because its keys may be added later. The startup probe of the agent delays the other
		// containers until all required files exist.
		corev1ac.Volume().WithName(sourceVolume).WithSecret(secretVolume(s.secret(d), s.items, 0o440).WithOptional(true)),
		corev1ac.Volume().WithName(filesVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource().
			WithMedium(corev1.StorageMediumMemory).WithSizeLimit(resource.MustParse("1Mi"))))
	spec.WithInitContainers(s.agent(agentImage, runAs(part)))
	if part.RunAsUser != nil {
		spec.SecurityContext.WithRunAsUser(runAs(part)).WithRunAsGroup(runAs(part))
	}
	if !isRoot(part) { // for root no fsGroup is set, because ssh refuses a private key that a group can read
		spec.SecurityContext.WithFSGroup(runAs(part)).WithRunAsNonRoot(true)
	}
	c.WithVolumeMounts(corev1ac.VolumeMount().WithName(filesVolume).WithMountPath(filesDir).WithSubPath(liveDir).WithReadOnly(true))
}

// runAs returns the UID that a part runs as. The default is 0 (root).
func runAs(part opsv1.Part) int64 {
	if part.RunAsUser == nil {
		return 0
	}
	return *part.RunAsUser
}

// isRoot reports whether a part (client or manager) runs as root. Only in such a part does opcrew also mount the SSH
// files in /root, as the tutorial article that this API comes from does.
func isRoot(part opsv1.Part) bool { return runAs(part) == 0 }

func secretVolume(name string, items []item, mode int32) *corev1ac.SecretVolumeSourceApplyConfiguration {
	source := corev1ac.SecretVolumeSource().WithSecretName(name).WithDefaultMode(mode)
	for _, i := range items {
		source.WithItems(corev1ac.KeyToPath().WithKey(i.key).WithPath(i.file))
	}
	return source
}

// agent returns the sidecar that updates the SSH files. It starts before the main containers, which wait until the
// files exist. All of these containers run as the same user, because ssh refuses a private key that other users can
// read.
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

// configFile mounts one file of the inventory's ConfigMap into a folder whose other files come from the image.
func configFile(key, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName("inventory").WithMountPath(path).WithSubPath(key).WithReadOnly(true)
}

func inventoryVolume(d *opsv1.Diva) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName("inventory").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(names.InventoryName(d)))
}

// SharesHostKey reports whether a spec of client pods comes from an earlier version of opcrew. Client pods of that
// version mount the Secret with the login key pair, which includes the private key, and all share one host key.
func SharesHostKey(d *opsv1.Diva, spec corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil && v.Secret.SecretName == names.SecretName(d)
	})
}
