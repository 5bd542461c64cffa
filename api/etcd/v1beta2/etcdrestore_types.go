// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdRestore replaces the data of an EtcdCluster with a backup. Its API is that of the CoreOS operator.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=etcdrestores,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`
// +kubebuilder:printcolumn:name="Backup",type=string,JSONPath=`.status.object`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.etcdCluster.name",message="metadata.name must equal spec.etcdCluster.name, because a restore is named after the EtcdCluster that it restores"
type EtcdRestore struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec names a backup, and the cluster whose data the backup replaces.
	// +required
	Spec EtcdRestoreSpec `json:"spec"`

	// status is the result of the restore. In a new object condition Ready has status Unknown by default, so that no
	// client mistakes the object for a finished one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status EtcdRestoreStatus `json:"status,omitempty"`
}

// EtcdRestoreSpec names a backup, and the cluster whose data the backup replaces. The spec cannot change.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a restore cannot be changed: delete it, which cancels it if it has not finished, and create another one"
// +kubebuilder:validation:XValidation:rule="!(self.backupStorageType in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']) || (self.backupStorageType == 'S3' ? has(self.s3) : self.backupStorageType == 'ABS' ? has(self.abs) : self.backupStorageType == 'GCS' ? has(self.gcs) : self.backupStorageType == 'OSS' ? has(self.oss) : has(self.pvc))",message="the section of the storage type is missing; add the field s3, abs, gcs, oss or pvc that belongs to it"
type EtcdRestoreSpec struct {
	// backupStorageType is where the backup is: S3, ABS, GCS, OSS or PVC. The field of that name (s3, abs, gcs, oss or
	// pvc) sets the location.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']",message="backupStorageType must be S3, ABS, GCS, OSS or PVC"
	BackupStorageType StorageType `json:"backupStorageType"`

	Storage `json:",inline"`

	// etcdCluster names the EtcdCluster, in the same namespace, whose data is replaced. If this EtcdCluster does not
	// exist yet, it starts with the data of the backup when a user creates it.
	// +required
	EtcdCluster ClusterReference `json:"etcdCluster"`

	// object is the backup to restore, by its name in status.last.object of the EtcdBackup. The default is the newest
	// backup at the path of the spec that is complete according to its record. This can be a single backup, or one of
	// several repeated backups.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Object string `json:"object,omitempty"`

	// revisionBump is added to the etcd revision of the restored data, and all lower revisions count as compacted;
	// default 1000000000. Watchers then list again instead of waiting for revisions that they have already seen. 0
	// turns both off.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4611686018427387904
	RevisionBump *int64 `json:"revisionBump,omitempty"`
}

// EtcdRestoreStatus is the result of the restore.
type EtcdRestoreStatus struct {
	// succeeded reports whether the cluster serves the restored data.
	// +optional
	Succeeded bool `json:"succeeded,omitempty"`

	// reason says why the restore has not succeeded.
	// +optional
	Reason string `json:"reason,omitempty"`

	// object is the name of the backup that was restored.
	// +optional
	Object string `json:"object,omitempty"`

	// revision is the etcd revision at which the restored cluster started.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the restore.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EtcdRestoreList is a list of EtcdRestore objects.
// +kubebuilder:object:root=true
type EtcdRestoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdRestore `json:"items"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (r *EtcdRestore) StatusConditions() *[]metav1.Condition { return &r.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (r *EtcdRestore) StatusObservedGeneration() *int64 { return &r.Status.ObservedGeneration }
