// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdRestore replaces the data of an EtcdCluster with a backup, with the API of the CoreOS operator.
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.etcdCluster.name",message="metadata.name: a restore is named after the EtcdCluster that it restores: write the name of spec.etcdCluster.name in both"
type EtcdRestore struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec names the backup and the cluster.
	// +required
	Spec EtcdRestoreSpec `json:"spec"`

	// status is the result. Its default keeps clients from taking a new object for a finished one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status EtcdRestoreStatus `json:"status,omitempty"`
}

// EtcdRestoreSpec names the backup and the cluster. It cannot change.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a restore cannot be changed: delete it, which cancels it if it has not finished, and create another one"
// +kubebuilder:validation:XValidation:rule="!(self.backupStorageType in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']) || (self.backupStorageType == 'S3' ? has(self.s3) : self.backupStorageType == 'ABS' ? has(self.abs) : self.backupStorageType == 'GCS' ? has(self.gcs) : self.backupStorageType == 'OSS' ? has(self.oss) : has(self.pvc))",message="the section of the storage type is missing: s3, abs, gcs, oss or pvc"
type EtcdRestoreSpec struct {
	// backupStorageType is S3, ABS, GCS, OSS or PVC; the section of that name holds the location.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']",message="backupStorageType must be S3, ABS, GCS, OSS or PVC"
	BackupStorageType StorageType `json:"backupStorageType"`

	Storage `json:",inline"`

	// etcdCluster is the EtcdCluster whose data is replaced, in the same namespace. A cluster that does
	// not exist yet starts from the backup when it is created, instead of starting empty.
	// +required
	EtcdCluster ClusterReference `json:"etcdCluster"`

	// object is a backup below the path, named as in the bucket or on the volume. By default it is the
	// backup that was saved last according to its record: one of a schedule, or the one at the path itself.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Object string `json:"object,omitempty"`

	// revisionBump is added to the revision, and lower revisions count as compacted, so that watchers list
	// again instead of waiting for revisions that they have already seen; 0 for neither, default 1000000000.
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

	// object is the backup that was restored.
	// +optional
	Object string `json:"object,omitempty"`

	// revision at which the restored cluster started.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the restore.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EtcdRestoreList is a list of EtcdRestores.
// +kubebuilder:object:root=true
type EtcdRestoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdRestore `json:"items"`
}

// StatusConditions returns the conditions for the reconcile loop to write.
func (r *EtcdRestore) StatusConditions() *[]metav1.Condition { return &r.Status.Conditions }

// StatusObservedGeneration returns the observed generation for the reconcile loop to write.
func (r *EtcdRestore) StatusObservedGeneration() *int64 { return &r.Status.ObservedGeneration }
