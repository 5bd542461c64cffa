// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of an EtcdBackup. They are computed and not stored.
const (
	// DefaultBackupTimeout is how many seconds an attempt may run, as in the CoreOS operator.
	DefaultBackupTimeout = 60
	// BackupAttempts is how often a backup is tried before it counts as failed.
	BackupAttempts = 3
	// PeriodicFinalizer is a finalizer that the CoreOS operator set; opcrew removes it.
	PeriodicFinalizer = "backup-operator-periodic"
)

// EtcdBackup saves the data of an etcd cluster, once or repeatedly, with the API of the CoreOS operator.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=etcdbackups,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Storage",type=string,JSONPath=`.spec.storageType`
// +kubebuilder:printcolumn:name="Revision",type=integer,JSONPath=`.status.etcdRevision`
// +kubebuilder:printcolumn:name="Last success",type=date,JSONPath=`.status.lastSuccessDate`
// +kubebuilder:printcolumn:name="Verified",type=date,JSONPath=`.status.verified.time`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type EtcdBackup struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is saved, where to, and when.
	// +required
	Spec EtcdBackupSpec `json:"spec"`

	// status is the result. Its default keeps clients from taking a new object for a finished one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Saved", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status EtcdBackupStatus `json:"status,omitempty"`
}

// EtcdBackupSpec is what is saved, where to, and when.
// +kubebuilder:validation:XValidation:rule="(has(self.etcdEndpoints) && self.etcdEndpoints.size() > 0) != has(self.etcdCluster)",message="set either etcdEndpoints, the client URLs of the members, or etcdCluster, the name of an EtcdCluster"
// +kubebuilder:validation:XValidation:rule="!(self.storageType in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']) || (self.storageType == 'S3' ? has(self.s3) : self.storageType == 'ABS' ? has(self.abs) : self.storageType == 'GCS' ? has(self.gcs) : self.storageType == 'OSS' ? has(self.oss) : has(self.pvc))",message="the section of the storage type is missing: s3, abs, gcs, oss or pvc"
type EtcdBackupSpec struct {
	// etcdEndpoints are the client URLs of members. The member with the highest revision is read; the others may be down.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=400
	// +kubebuilder:validation:items:Pattern=`^https?://[^ /]+/?$`
	EtcdEndpoints []string `json:"etcdEndpoints,omitempty"`

	// etcdCluster is an EtcdCluster in the same namespace, instead of etcdEndpoints.
	// +optional
	EtcdCluster *ClusterReference `json:"etcdCluster,omitempty"`

	// storageType is S3, ABS, GCS, OSS or PVC; the section of that name holds the location.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']",message="storageType must be S3, ABS, GCS, OSS or PVC"
	StorageType StorageType `json:"storageType"`

	Storage `json:",inline"`

	// backupPolicy sets when backups run, and which are kept; without it there is one backup, at once.
	// +optional
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`

	// clientTLSSecret holds etcd-client.crt, etcd-client.key and etcd-client-ca.crt. With etcdCluster the default
	// is TLS.static.operatorSecret of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClientTLSSecret string `json:"clientTLSSecret,omitempty"`

	// verify restores backups in a temporary pod, to check that they can be restored.
	// +optional
	Verify *VerifyPolicy `json:"verify,omitempty"`

	// suspend stops new backups. A running backup continues.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// pod sets how the worker pods are built.
	// +optional
	Pod *WorkerPolicy `json:"pod,omitempty"`
}

// ClusterReference names an EtcdCluster.
type ClusterReference struct {
	// name of an EtcdCluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=52
	Name string `json:"name"`
}

// BackupPolicy sets when backups run, and which are kept.
// +kubebuilder:validation:XValidation:rule="!has(self.schedule) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0",message="backupIntervalInSecond and schedule both set the time of backups; set only one of them"
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || !has(self.timeZone)",message="timeZone needs schedule; set schedule, or leave timeZone out"
type BackupPolicy struct {
	// timeoutInSecond is how long an attempt may run; 60 by default and for 0.
	// +optional
	// +kubebuilder:validation:Maximum=86400
	TimeoutInSecond int64 `json:"timeoutInSecond,omitempty"`

	// backupIntervalInSecond is the time between two backups, from 10; 0 for one backup.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 10 && self <= 31536000",message="backupIntervalInSecond must be 0 for one backup, or from 10 to 31536000 (a year)"
	BackupIntervalInSecond int64 `json:"backupIntervalInSecond,omitempty"`

	// schedule in cron format, such as "0 3 * * *", instead of the interval.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Schedule string `json:"schedule,omitempty"`

	// timeZone of schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	TimeZone string `json:"timeZone,omitempty"`

	// maxBackups is how many backups of a schedule are kept, the newest; 0 for all.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxBackups int32 `json:"maxBackups,omitempty"`
}

// VerifyPolicy sets which backups are restored to check them.
type VerifyPolicy struct {
	// every is after how many successful backups one is verified; 1 for each.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Every int32 `json:"every"`
}

// WorkerPolicy sets how the pods are built that save, verify and restore.
type WorkerPolicy struct {
	// serviceAccountName is a ServiceAccount with access to the storage, where no Secret gives it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// resources of the container; by default a request of 64Mi and a limit of 128Mi. Verifying needs twice the
	// size of the data in an emptyDir.
	// +optional
	Resources *common.Resources `json:"resources,omitempty"`

	// nodeSelector are the labels of nodes on which the pods may run.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// imagePullSecrets for the image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

// EtcdBackupStatus is the observed state of the backups.
type EtcdBackupStatus struct {
	// succeeded reports whether the last backup succeeded.
	// +optional
	Succeeded bool `json:"succeeded,omitempty"`

	// Reason says why the last backup failed.
	// +optional
	Reason string `json:"Reason,omitempty"` //nolint:tagliatelle // the contract's

	// etcdVersion is the version of the member that the last successful backup read.
	// +optional
	EtcdVersion string `json:"etcdVersion,omitempty"`

	// etcdRevision is the revision of the last successful backup.
	// +optional
	EtcdRevision int64 `json:"etcdRevision,omitempty"`

	// lastSuccessDate is when the last successful backup was complete.
	// +optional
	LastSuccessDate *metav1.Time `json:"lastSuccessDate,omitempty"`

	// last is the last successful backup.
	// +optional
	Last *BackupRecord `json:"last,omitempty"`

	// run is the backup that started last.
	// +optional
	Run *BackupRun `json:"run,omitempty"`

	// count is how many backups have succeeded.
	// +optional
	Count int64 `json:"count,omitempty"`

	// verified is the last backup that was verified to be restorable.
	// +optional
	Verified *BackupRecord `json:"verified,omitempty"`

	// nextDate is when the next backup is due.
	// +optional
	NextDate *metav1.Time `json:"nextDate,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the backups; Ready summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BackupRecord is a backup that is complete.
type BackupRecord struct {
	// object is the name of the backup in the bucket or on the volume.
	// +optional
	Object string `json:"object,omitempty"`
	// revision of the data.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// size in bytes.
	// +optional
	Size int64 `json:"size,omitempty"`
	// time at which the backup was saved, or verified.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
	// savedAt is when the backup was saved, if time is when it was verified.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// clusterID is the ID of the saved cluster, as in the status of an EtcdCluster.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// place is the location and the source that the spec named.
	// +optional
	Place string `json:"place,omitempty"`
}

// BackupRun is one backup, with all of its attempts.
type BackupRun struct {
	// due is when the backup was due.
	// +optional
	Due metav1.Time `json:"due,omitempty"`
	// phase is Running, Verifying, Succeeded or Failed.
	// +optional
	Phase string `json:"phase,omitempty"`
	// generation of the spec for which the backup runs.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// retry is the value of the annotation etcd.opcrew.io/retry when the backup started.
	// +optional
	Retry string `json:"retry,omitempty"`
	// place is the location and the source that the spec names. The run ends when they change.
	// +optional
	Place string `json:"place,omitempty"`
	// ended is when the run failed, and reason why, as in the condition Saved.
	// +optional
	Ended *metav1.Time `json:"ended,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// failures is how many runs have failed since the last time of the schedule, including this one.
	// +optional
	Failures int32 `json:"failures,omitempty"`
}

// RetryAnnotation on an EtcdBackup starts a failed run again with each new value.
const RetryAnnotation = "etcd.opcrew.io/retry"

// Phases of a run.
const (
	RunRunning   = "Running"
	RunVerifying = "Verifying"
	RunSucceeded = "Succeeded"
	RunFailed    = "Failed"
)

// EtcdBackupList is a list of EtcdBackups.
// +kubebuilder:object:root=true
type EtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdBackup `json:"items"`
}

// StatusConditions returns the conditions for the reconcile loop to write.
func (b *EtcdBackup) StatusConditions() *[]metav1.Condition { return &b.Status.Conditions }

// StatusObservedGeneration returns the observed generation for the reconcile loop to write.
func (b *EtcdBackup) StatusObservedGeneration() *int64 { return &b.Status.ObservedGeneration }
