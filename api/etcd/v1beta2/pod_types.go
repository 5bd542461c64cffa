// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
)

// PodPolicy sets how the members' pods are built. All fields are those of the CoreOS operator.
// +kubebuilder:validation:XValidation:rule="!has(self.labels) || self.labels.all(k, !(k in ['app', 'app.kubernetes.io/managed-by', 'diva-client', 'diva-manager']) && !['opcrew.io/', 'etcd.opcrew.io/', 'redis.opcrew.io/', 'redis.io/', 'etcd_'].exists(p, k.startsWith(p)))",message="pod.labels: app, app.kubernetes.io/managed-by, diva-client, diva-manager and keys that begin with opcrew.io/, etcd.opcrew.io/, redis.opcrew.io/, redis.io/ or etcd_ are reserved, because opcrew selects pods by them; use other keys"
type PodPolicy struct {
	// labels are added to the pods. The key app and keys by which opcrew selects pods are reserved, such as those that
	// begin with etcd_, opcrew.io/ or redis.io/.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods. They cannot replace an annotation that the operator sets.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector lists the labels that a node must have to run members. Without it members may run on any node.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity of the pods. If it is set, the operator no longer spreads members over nodes and zones.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// antiAffinity forbids two members on one node, even if this keeps a member from running. Default false: the
	// operator spreads members over nodes and zones as far as possible. antiAffinity has no effect if affinity is set.
	// +optional
	AntiAffinity bool `json:"antiAffinity,omitempty"`

	// resources of the etcd container. If the Kubernetes version supports it, a change takes effect without a restart.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// tolerations of the pods: the node taints that do not keep the pods away.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// etcdEnv are environment variables of etcd, such as ETCD_AUTO_COMPACTION_RETENTION. Variables for the name, the
	// addresses and the data directory of a member are not allowed, because the operator sets these.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(e, !(e.name in ['ETCD_NAME', 'ETCD_DATA_DIR', 'ETCD_WAL_DIR', 'ETCD_INITIAL_CLUSTER', 'ETCD_INITIAL_CLUSTER_STATE', 'ETCD_INITIAL_CLUSTER_TOKEN', 'ETCD_INITIAL_ADVERTISE_PEER_URLS', 'ETCD_ADVERTISE_CLIENT_URLS', 'ETCD_LISTEN_PEER_URLS', 'ETCD_LISTEN_CLIENT_URLS', 'ETCD_FORCE_NEW_CLUSTER', 'ETCD_CONFIG_FILE']))",message="etcdEnv: the operator sets the name, the listen addresses and the data directory of a member; remove these variables"
	// +kubebuilder:validation:XValidation:rule="self.all(e, e.name != 'ETCD_LISTEN_METRICS_URLS')",message="etcdEnv: the operator sets the flag --listen-metrics-urls, and etcd does not start if ETCD_LISTEN_METRICS_URLS is set too; remove the variable; members also serve /metrics at their client URLs"
	// +listType=atomic
	EtcdEnv []EnvVar `json:"etcdEnv,omitempty"`

	// persistentVolumeClaimSpec gives every member a claim. Without it members use an emptyDir, and lose their data
	// with their pod. If resources.requests.storage is raised, volumes grow if their class allows it. A change of
	// storageClassName, volumeAttributesClassName, accessModes or selector replaces the members one after another, each
	// with a new claim.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.volumeMode) || self.volumeMode == 'Filesystem'",message="persistentVolumeClaimSpec.volumeMode must be Filesystem, because etcd needs a file system; remove volumeMode, or set Filesystem"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.storageClassName) || has(self.storageClassName)",message="persistentVolumeClaimSpec.storageClassName cannot be removed later, because the default class may change; name the class of new claims"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.volumeAttributesClassName) || oldSelf.volumeAttributesClassName == '' || has(self.volumeAttributesClassName) && self.volumeAttributesClassName != ''",message="persistentVolumeClaimSpec.volumeAttributesClassName cannot be removed later; name the class of new claims"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.accessModes) || size(oldSelf.accessModes) == 0 || has(self.accessModes) && size(self.accessModes) > 0",message="persistentVolumeClaimSpec.accessModes cannot be removed later, because a claim needs an access mode, such as ReadWriteOnce"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.resources) || !has(oldSelf.resources.requests) || !('storage' in oldSelf.resources.requests) || has(self.resources) && has(self.resources.requests) && 'storage' in self.resources.requests",message="persistentVolumeClaimSpec.resources.requests.storage cannot be removed later, because a claim needs a size"
	// +kubebuilder:validation:XValidation:rule="has(self.resources) && has(self.resources.limits) ? has(oldSelf.resources) && has(oldSelf.resources.limits) && self.resources.limits == oldSelf.resources.limits : !has(oldSelf.resources) || !has(oldSelf.resources.limits)",message="persistentVolumeClaimSpec.resources.limits cannot be changed later, because it does not limit a volume; set resources.requests.storage"
	// +kubebuilder:validation:XValidation:rule="has(self.volumeName) == has(oldSelf.volumeName) && (!has(self.volumeName) || self.volumeName == oldSelf.volumeName)",message="persistentVolumeClaimSpec.volumeName cannot be changed later, because a volume belongs to one member; choose volumes for new claims with storageClassName or selector"
	// +kubebuilder:validation:XValidation:rule="has(self.dataSource) == has(oldSelf.dataSource) && (!has(self.dataSource) || self.dataSource == oldSelf.dataSource)",message="persistentVolumeClaimSpec.dataSource cannot be changed later, because a new member starts on an empty volume; restore data with an EtcdRestore"
	// +kubebuilder:validation:XValidation:rule="has(self.dataSourceRef) == has(oldSelf.dataSourceRef) && (!has(self.dataSourceRef) || self.dataSourceRef == oldSelf.dataSourceRef)",message="persistentVolumeClaimSpec.dataSourceRef cannot be changed later, because a new member starts on an empty volume; restore data with an EtcdRestore"
	PersistentVolumeClaimSpec *corev1.PersistentVolumeClaimSpec `json:"persistentVolumeClaimSpec,omitempty"`

	// busyboxImage is accepted and has no effect, because no init container waits for DNS.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BusyboxImage string `json:"busyboxImage,omitempty"`

	// securityContext of the pods, which must meet the restricted Pod Security Standard. Each field that is not set
	// keeps its default: user and group 1000, not root, and the seccomp profile of the container runtime.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.runAsNonRoot) || self.runAsNonRoot",message="pod.securityContext.runAsNonRoot: pods must meet the restricted Pod Security Standard; remove this field, or write true"
	// +kubebuilder:validation:XValidation:rule="!has(self.runAsUser) || self.runAsUser != 0",message="pod.securityContext.runAsUser: pods must meet the restricted Pod Security Standard; remove this field, or write the number of a user other than root"
	// +kubebuilder:validation:XValidation:rule="!has(self.seccompProfile) || self.seccompProfile.type != 'Unconfined'",message="pod.securityContext.seccompProfile.type: pods must meet the restricted Pod Security Standard; remove this field, or write RuntimeDefault"
	// +kubebuilder:validation:XValidation:rule="!has(self.appArmorProfile) || self.appArmorProfile.type != 'Unconfined'",message="pod.securityContext.appArmorProfile.type: pods must meet the restricted Pod Security Standard; remove this field, or write RuntimeDefault"
	// +kubebuilder:validation:XValidation:rule="!has(self.windowsOptions) || !has(self.windowsOptions.hostProcess) || !self.windowsOptions.hostProcess",message="pod.securityContext.windowsOptions.hostProcess: pods must meet the restricted Pod Security Standard; remove this field"
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// DNSTimeoutInSecond is accepted and has no effect, because members look up each other's names until they succeed.
	// +optional
	DNSTimeoutInSecond int64 `json:"DNSTimeoutInSecond,omitempty"`

	// ClusterDomain is appended to the host names of members and Services, such as .cluster.local. Without it host
	// names end in .svc, and the search domains of the pods complete them.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[.]?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	ClusterDomain string `json:"ClusterDomain,omitempty"`
}

// EnvVar is an environment variable of etcd.
type EnvVar struct {
	// name of the variable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// value of the variable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
	// valueFrom takes the value from another object, such as a Secret.
	// +optional
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty"`
}
