// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of an EtcdBackup. The operator applies them when it reads a spec, and does not store them in the object.
const (
	// DefaultBackupTimeout is the time, in seconds, that one attempt of a backup may run, as in the CoreOS operator.
	DefaultBackupTimeout = 60
	// BackupAttempts is the number of attempts after which a backup has failed.
	BackupAttempts = 3
	// PeriodicFinalizer is a finalizer that the CoreOS operator set. opcrew removes it, so that the object can be
	// deleted.
	PeriodicFinalizer = "backup-operator-periodic"
)

// EtcdBackup saves the data of an etcd cluster once or repeatedly. Its API is that of the CoreOS operator.
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

	// spec says which cluster is saved, where, and when.
	// +required
	Spec EtcdBackupSpec `json:"spec"`

	// status is the result of the backups. In a new object all conditions have status Unknown by default, so that no
	// client mistakes the object for a finished one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Saved", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status EtcdBackupStatus `json:"status,omitempty"`
}

// EtcdBackupSpec says which cluster is saved, where, and when.
// +kubebuilder:validation:XValidation:rule="(has(self.etcdEndpoints) && self.etcdEndpoints.size() > 0) != has(self.etcdCluster)",message="set either etcdEndpoints, the client URLs of the members, or etcdCluster, the name of an EtcdCluster"
// +kubebuilder:validation:XValidation:rule="!(self.storageType in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']) || (self.storageType == 'S3' ? has(self.s3) : self.storageType == 'ABS' ? has(self.abs) : self.storageType == 'GCS' ? has(self.gcs) : self.storageType == 'OSS' ? has(self.oss) : has(self.pvc))",message="the section of the storage type is missing; add the field s3, abs, gcs, oss or pvc that belongs to it"
type EtcdBackupSpec struct {
	// etcdEndpoints are the client URLs of the members. The backup reads the member with the highest revision; the
	// other members may be down. Set either etcdEndpoints or etcdCluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=400
	// +kubebuilder:validation:items:Pattern=`^https?://[^ /]+/?$`
	EtcdEndpoints []string `json:"etcdEndpoints,omitempty"`

	// etcdCluster is the EtcdCluster in the same namespace whose data is saved. Set either etcdCluster or
	// etcdEndpoints.
	// +optional
	EtcdCluster *ClusterReference `json:"etcdCluster,omitempty"`

	// storageType is where backups are saved: S3, ABS, GCS, OSS or PVC. The field of that name (s3, abs, gcs, oss or
	// pvc) sets the location.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self in ['S3', 'ABS', 'GCS', 'OSS', 'PVC']",message="storageType must be S3, ABS, GCS, OSS or PVC"
	StorageType StorageType `json:"storageType"`

	Storage `json:",inline"`

	// backupPolicy sets when backups run, and which are kept. Without it one backup runs at once.
	// +optional
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`

	// clientTLSSecret is a Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt, for TLS to the members.
	// With etcdCluster the default is TLS.static.operatorSecret of that cluster. With etcdEndpoints there is no
	// default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClientTLSSecret string `json:"clientTLSSecret,omitempty"`

	// verify restores backups in a temporary pod, to check that they can be restored. Without it backups are not
	// checked.
	// +optional
	Verify *VerifyPolicy `json:"verify,omitempty"`

	// suspend stops new backups; default false. A running backup continues.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// pod configures the pods that save and verify backups.
	// +optional
	Pod *WorkerPolicy `json:"pod,omitempty"`
}

// ClusterReference names an EtcdCluster in the same namespace.
type ClusterReference struct {
	// name of an EtcdCluster in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=52
	Name string `json:"name"`
}

// BackupPolicy sets when backups run, and which are kept.
// +kubebuilder:validation:XValidation:rule="!has(self.schedule) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0",message="backupIntervalInSecond and schedule both set the time of backups; set only one of them"
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || !has(self.timeZone)",message="timeZone needs schedule; set schedule, or remove timeZone"
type BackupPolicy struct {
	// timeoutInSecond is the time, in seconds, that one attempt of a backup may run, at most 86400. The default, also
	// for 0, is 60.
	// +optional
	// +kubebuilder:validation:Maximum=86400
	TimeoutInSecond int64 `json:"timeoutInSecond,omitempty"`

	// backupIntervalInSecond is the time between two backups, in seconds: 0 (the default) for a single backup, or 10 to
	// 31536000. Set either this field or schedule.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 10 && self <= 31536000",message="backupIntervalInSecond must be 0 for one backup, or from 10 to 31536000 seconds (a year)"
	BackupIntervalInSecond int64 `json:"backupIntervalInSecond,omitempty"`

	// schedule is the time of the backups in cron format, such as "0 3 * * *" for 3:00 every day. Set either this field
	// or backupIntervalInSecond.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Schedule string `json:"schedule,omitempty"`

	// timeZone is the time zone of schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	TimeZone string `json:"timeZone,omitempty"`

	// maxBackups is how many repeated backups are kept. Older ones are deleted. The default 0 keeps all.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxBackups int32 `json:"maxBackups,omitempty"`
}

// VerifyPolicy sets which backups are restored for a test.
type VerifyPolicy struct {
	// every is the number of successful backups after which one is verified, 1 to 100000. With 1 every backup is
	// verified.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Every int32 `json:"every"`
}

// WorkerPolicy configures the pods that save, verify and restore backups.
type WorkerPolicy struct {
	// serviceAccountName is a ServiceAccount whose cloud identity has access to the storage. It is needed only if no
	// Secret with credentials is set.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// resources of the pods' container; default a request of 64Mi and a limit of 128Mi of memory. A pod that verifies
	// also needs twice the size of the data in an emptyDir.
	// +optional
	Resources *common.Resources `json:"resources,omitempty"`

	// nodeSelector lists the labels that a node must have to run the pods. Without it they may run on any node.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the pods: the node taints that do not keep the pods away.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// imagePullSecrets are Secrets with registry credentials for the pods' image.
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

	// Reason says why the last backup failed. It is empty if that backup succeeded.
	// +optional
	Reason string `json:"Reason,omitempty"` //nolint:tagliatelle // the field name in the CoreOS operator

	// etcdVersion is the etcd version of the member from which the last successful backup was read.
	// +optional
	EtcdVersion string `json:"etcdVersion,omitempty"`

	// etcdRevision is the etcd revision of the data in the last successful backup.
	// +optional
	EtcdRevision int64 `json:"etcdRevision,omitempty"`

	// lastSuccessDate is when the last successful backup was complete.
	// +optional
	LastSuccessDate *metav1.Time `json:"lastSuccessDate,omitempty"`

	// last describes the last successful backup.
	// +optional
	Last *BackupRecord `json:"last,omitempty"`

	// run describes the backup that started last.
	// +optional
	Run *BackupRun `json:"run,omitempty"`

	// count is the number of backups that have succeeded.
	// +optional
	Count int64 `json:"count,omitempty"`

	// verified describes the last backup that a test restored successfully.
	// +optional
	Verified *BackupRecord `json:"verified,omitempty"`

	// nextDate is when the next backup is due.
	// +optional
	NextDate *metav1.Time `json:"nextDate,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the backups; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BackupRecord describes a complete backup.
type BackupRecord struct {
	// object is the name of the backup in its bucket or on its volume.
	// +optional
	Object string `json:"object,omitempty"`
	// revision is the etcd revision of the saved data.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// size of the backup in bytes.
	// +optional
	Size int64 `json:"size,omitempty"`
	// time at which the backup was saved. In status.verified of an EtcdBackup, it is the time at which the backup was
	// verified.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
	// savedAt is when the backup was saved. It is set only in status.verified of an EtcdBackup, where time is when the
	// backup was verified.
	// +optional
	SavedAt *metav1.Time `json:"savedAt,omitempty"`
	// clusterID is etcd's ID of the saved cluster, as in the status of an EtcdCluster.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// place identifies the storage location and the etcd cluster that the spec named for this backup.
	// +optional
	Place string `json:"place,omitempty"`
}

// BackupRun is one backup with all of its attempts.
type BackupRun struct {
	// due is when the backup was due, by the schedule or the interval.
	// +optional
	Due metav1.Time `json:"due,omitempty"`
	// phase of the backup: Running, Verifying, Succeeded or Failed.
	// +optional
	Phase string `json:"phase,omitempty"`
	// generation is the metadata.generation of the spec for which the backup runs.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// retry is the value that the annotation etcd.opcrew.io/retry had when the backup started.
	// +optional
	Retry string `json:"retry,omitempty"`
	// place identifies the storage location and the etcd cluster that the spec names. The backup ends early if the spec
	// names another location or cluster.
	// +optional
	Place string `json:"place,omitempty"`
	// ended is when the backup failed.
	// +optional
	Ended *metav1.Time `json:"ended,omitempty"`
	// reason says why the backup failed, by a reason of the condition Saved.
	// +optional
	Reason string `json:"reason,omitempty"`
	// failures is the number of failures so far, including those of the failed backups that this backup retries.
	// +optional
	Failures int32 `json:"failures,omitempty"`
}

// RetryAnnotation on an EtcdBackup makes the operator start a failed backup again, once for each new value of the
// annotation.
const RetryAnnotation = "etcd.opcrew.io/retry"

// Phases of a backup.
const (
	RunRunning   = "Running"
	RunVerifying = "Verifying"
	RunSucceeded = "Succeeded"
	RunFailed    = "Failed"
)

// EtcdBackupList is a list of EtcdBackup objects.
// +kubebuilder:object:root=true
type EtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdBackup `json:"items"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (b *EtcdBackup) StatusConditions() *[]metav1.Condition { return &b.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (b *EtcdBackup) StatusObservedGeneration() *int64 { return &b.Status.ObservedGeneration }
