// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
)

// PodPolicy tells how the members' pods are made. All fields are those of the CoreOS operator.
// +kubebuilder:validation:XValidation:rule="!has(self.labels) || self.labels.all(k, k != 'app' && !k.startsWith('etcd_'))",message="pod.labels: app and what begins with etcd_ are the operator's own"
type PodPolicy struct {
	// labels are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector are the labels of the nodes that members may run on.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity of the pods; with it the operator adds no spreading over nodes of its own.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// antiAffinity, if true and without affinity, keeps two members from running on one node, even if one
	// then cannot run. Without it members are spread over nodes and zones where there are enough.
	// +optional
	AntiAffinity bool `json:"antiAffinity,omitempty"`

	// resources of etcd's container. They are changed while members run, where Kubernetes lets them be.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// tolerations of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// etcdEnv are environment variables of etcd, such as ETCD_AUTO_COMPACTION_RETENTION. Those that say who a
	// member is or where its data is are the operator's own.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(e, !(e.name in ['ETCD_NAME', 'ETCD_DATA_DIR', 'ETCD_WAL_DIR', 'ETCD_INITIAL_CLUSTER', 'ETCD_INITIAL_CLUSTER_STATE', 'ETCD_INITIAL_CLUSTER_TOKEN', 'ETCD_INITIAL_ADVERTISE_PEER_URLS', 'ETCD_ADVERTISE_CLIENT_URLS', 'ETCD_LISTEN_PEER_URLS', 'ETCD_LISTEN_CLIENT_URLS', 'ETCD_FORCE_NEW_CLUSTER', 'ETCD_CONFIG_FILE']))",message="etcdEnv: who a member is, where it listens and where its data is are the operator's own to say"
	// +kubebuilder:validation:XValidation:rule="self.all(e, e.name != 'ETCD_LISTEN_METRICS_URLS')",message="etcdEnv: the operator sets --listen-metrics-urls, and etcd does not start with ETCD_LISTEN_METRICS_URLS beside it: leave it out; members serve /metrics at their client URLs, too"
	// +listType=atomic
	EtcdEnv []EnvVar `json:"etcdEnv,omitempty"`

	// persistentVolumeClaimSpec gives every member a claim. Without it members live in emptyDir, and one
	// whose pod goes is replaced by a new member. Volumes grow with resources.requests.storage where their class allows that.
	// When storageClassName, volumeAttributesClassName, accessModes or selector change, members are replaced one at a time,
	// each by a new one on a new claim.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.volumeMode) || self.volumeMode == 'Filesystem'",message="persistentVolumeClaimSpec.volumeMode: etcd needs a file system; leave it out or set Filesystem"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.storageClassName) || has(self.storageClassName)",message="persistentVolumeClaimSpec.storageClassName cannot be left out later: which class is the default may change; name the class that new claims are to have"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.volumeAttributesClassName) || oldSelf.volumeAttributesClassName == '' || has(self.volumeAttributesClassName) && self.volumeAttributesClassName != ''",message="persistentVolumeClaimSpec.volumeAttributesClassName cannot be left out later; name the class that new claims are to have"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.accessModes) || size(oldSelf.accessModes) == 0 || has(self.accessModes) && size(self.accessModes) > 0",message="persistentVolumeClaimSpec.accessModes cannot be left out later: a claim needs one, such as ReadWriteOnce"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.resources) || !has(oldSelf.resources.requests) || !('storage' in oldSelf.resources.requests) || has(self.resources) && has(self.resources.requests) && 'storage' in self.resources.requests",message="persistentVolumeClaimSpec.resources.requests.storage cannot be left out later: a claim needs a size"
	// +kubebuilder:validation:XValidation:rule="has(self.resources) && has(self.resources.limits) ? has(oldSelf.resources) && has(oldSelf.resources.limits) && self.resources.limits == oldSelf.resources.limits : !has(oldSelf.resources) || !has(oldSelf.resources.limits)",message="persistentVolumeClaimSpec.resources.limits cannot be changed later: it does not limit a volume; set resources.requests.storage"
	// +kubebuilder:validation:XValidation:rule="has(self.volumeName) == has(oldSelf.volumeName) && (!has(self.volumeName) || self.volumeName == oldSelf.volumeName)",message="persistentVolumeClaimSpec.volumeName cannot be changed later: a volume belongs to one member; choose volumes for new claims with storageClassName or selector"
	// +kubebuilder:validation:XValidation:rule="has(self.dataSource) == has(oldSelf.dataSource) && (!has(self.dataSource) || self.dataSource == oldSelf.dataSource)",message="persistentVolumeClaimSpec.dataSource cannot be changed later: a new member begins on an empty volume; put data back with an EtcdRestore"
	// +kubebuilder:validation:XValidation:rule="has(self.dataSourceRef) == has(oldSelf.dataSourceRef) && (!has(self.dataSourceRef) || self.dataSourceRef == oldSelf.dataSourceRef)",message="persistentVolumeClaimSpec.dataSourceRef cannot be changed later: a new member begins on an empty volume; put data back with an EtcdRestore"
	PersistentVolumeClaimSpec *corev1.PersistentVolumeClaimSpec `json:"persistentVolumeClaimSpec,omitempty"`

	// busyboxImage is accepted and not used: nothing waits for DNS in a container of its own any more.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BusyboxImage string `json:"busyboxImage,omitempty"`

	// securityContext of the pods; default: what the restricted Pod Security Standard allows, as user 1000.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// DNSTimeoutInSecond is accepted and not used: members look each other up until they are there.
	// +optional
	DNSTimeoutInSecond int64 `json:"DNSTimeoutInSecond,omitempty"`

	// ClusterDomain is added to the names of members, such as .cluster.local.
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
	// valueFrom is where else the value comes from.
	// +optional
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty"`
}
