// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdRestore puts a backup in the place of an EtcdCluster's data, as the CoreOS operator had it.
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

	// spec is which backup is restored, and where.
	// +required
	Spec EtcdRestoreSpec `json:"spec"`

	// status is what became of it. Its default keeps a new object from being taken for a done one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status EtcdRestoreStatus `json:"status,omitempty"`
}

// EtcdRestoreSpec is which backup is restored, and where. It cannot be changed once it is there.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a restore cannot be changed: delete it, which ends it if it is not done, and make another one"
// +kubebuilder:validation:XValidation:rule="!(self.backupStorageType in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']) || (self.backupStorageType == 'S3' ? has(self.s3) : self.backupStorageType == 'ABS' ? has(self.abs) : self.backupStorageType == 'GCS' ? has(self.gcs) : self.backupStorageType == 'OSS' ? has(self.oss) : has(self.pvc))",message="the section of the storage type is missing: s3, abs, gcs, oss or pvc"
type EtcdRestoreSpec struct {
	// backupStorageType is S3, ABS, GCS, OSS or PVC; the section of that name tells where.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']",message="backupStorageType is S3, ABS, GCS, OSS or PVC"
	BackupStorageType StorageType `json:"backupStorageType"`

	Storage `json:",inline"`

	// etcdCluster is the EtcdCluster whose data is replaced, in the namespace of the object. One that is
	// not there yet is restored when it is made, in the place of beginning with no data.
	// +required
	EtcdCluster ClusterReference `json:"etcdCluster"`

	// object is a backup of the path, named as in the bucket or on the volume. By default it is the
	// one that was saved last as its record says, be it of a schedule or the one at the path itself.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Object string `json:"object,omitempty"`

	// revisionBump is added to the revision, and what is below it counts as compacted, so that watchers list
	// anew instead of waiting for revisions that they have seen already; 0 for neither, default 1000000000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4611686018427387904
	RevisionBump *int64 `json:"revisionBump,omitempty"`
}

// EtcdRestoreStatus is what became of it.
type EtcdRestoreStatus struct {
	// succeeded tells whether the cluster serves what was restored.
	// +optional
	Succeeded bool `json:"succeeded,omitempty"`

	// reason says why it has not.
	// +optional
	Reason string `json:"reason,omitempty"`

	// object is the backup that was restored.
	// +optional
	Object string `json:"object,omitempty"`

	// revision is what the restored cluster started at.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// observedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions tell the state in words.
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

// StatusConditions gives the shared core access to the conditions.
func (r *EtcdRestore) StatusConditions() *[]metav1.Condition { return &r.Status.Conditions }

// StatusObservedGeneration gives the shared core access to the observed generation.
func (r *EtcdRestore) StatusObservedGeneration() *int64 { return &r.Status.ObservedGeneration }
