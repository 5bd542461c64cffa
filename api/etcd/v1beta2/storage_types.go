// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// StorageType is the kind of storage in which backups are saved.
type StorageType string

// Values of StorageType. S3, ABS, GCS and OSS come from the CoreOS operator.
const (
	StorageS3  StorageType = "S3"
	StorageABS StorageType = "ABS"
	StorageGCS StorageType = "GCS"
	StorageOSS StorageType = "OSS"
	// StoragePVC is a PersistentVolumeClaim in the same namespace.
	StoragePVC StorageType = "PVC"
)

// DefaultOSSEndpoint is the default endpoint of the CoreOS operator, but with https instead of http.
const DefaultOSSEndpoint = "https://oss-cn-hangzhou.aliyuncs.com"

// Storage is the location of backups. The user sets the field that belongs to the storage type.
type Storage struct {
	// s3 is the location in a bucket of Amazon S3, or of another server with the S3 protocol.
	// +optional
	S3 *S3Source `json:"s3,omitempty"`
	// abs is the location in a container of Azure Blob Storage.
	// +optional
	ABS *ABSSource `json:"abs,omitempty"`
	// gcs is the location in a bucket of Google Cloud Storage.
	// +optional
	GCS *GCSSource `json:"gcs,omitempty"`
	// oss is the location in a bucket of Alibaba Cloud Object Storage Service.
	// +optional
	OSS *OSSSource `json:"oss,omitempty"`
	// pvc is the location on the volume of a PersistentVolumeClaim. Pods mount the volume only while they save or
	// restore.
	// +optional
	PVC *PVCSource `json:"pvc,omitempty"`
}

// S3Source is a location in a bucket of Amazon S3, or of another server with the S3 protocol.
type S3Source struct {
	// path is "<bucket>/<key>". A single backup is saved under exactly that key. Repeated backups append
	// "_v<revision>_<YYYY-MM-DD-HH:MM:SS>" to the key.
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <bucket>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// awsSecret is a Secret with the keys credentials and config, in the format of the AWS tools. Its profile default
	// is used. Without awsSecret the pod uses the credentials of its ServiceAccount or node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AWSSecret string `json:"awsSecret,omitempty"`
	// endpoint is the URL of an S3 server that is not Amazon's; default Amazon S3. A URL without a scheme means https.
	// With http:// backups travel unencrypted, and condition Unencrypted reports that.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	Endpoint string `json:"endpoint,omitempty"`
	// forcePathStyle puts the bucket into the path of URLs instead of the host name; default false.
	// +optional
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
}

// ABSSource is a location in a container of Azure Blob Storage.
type ABSSource struct {
	// path is "<container>/<key>". A single backup is saved under exactly that key. Repeated backups append
	// "_v<revision>_<YYYY-MM-DD-HH:MM:SS>" to the key.
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <container>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// absSecret is a Secret with the keys storage-account and storage-key. A cloud other than the public one also needs
	// the key cloud.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ABSSecret string `json:"absSecret"`
}

// GCSSource is a location in a bucket of Google Cloud Storage.
type GCSSource struct {
	// path is "<bucket>/<key>". A single backup is saved under exactly that key. Repeated backups append
	// "_v<revision>_<YYYY-MM-DD-HH:MM:SS>" to the key.
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <bucket>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// gcpSecret is a Secret with the key access-token or credentials.json. Without it the pod uses the credentials of
	// its ServiceAccount or node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	GCPSecret string `json:"gcpSecret,omitempty"`
}

// OSSSource is a location in a bucket of Alibaba Cloud Object Storage Service.
type OSSSource struct {
	// path is "<bucket>/<key>". A single backup is saved under exactly that key. Repeated backups append
	// "_v<revision>_<YYYY-MM-DD-HH:MM:SS>" to the key.
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <bucket>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// ossSecret is a Secret with the keys accessKeyID and accessKeySecret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	OSSSecret string `json:"ossSecret"`
	// endpoint is the URL of the service; default https://oss-cn-hangzhou.aliyuncs.com. A URL without a scheme means
	// https. With http:// backups travel unencrypted, and condition Unencrypted reports that.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	Endpoint string `json:"endpoint,omitempty"`
}

// PVCSource is a location on the volume of a PersistentVolumeClaim.
type PVCSource struct {
	// claimName is the name of a PersistentVolumeClaim in the same namespace. The operator never deletes the claim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`
	// path is the file on the volume, such as example/etcd. Repeated backups append
	// "_v<revision>_<YYYY-MM-DD-HH:MM:SS>" to the file name.
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/].*[^/]$|^[^/]$') && !self.matches('(^|/)[.][.]?(/|$)')",message="path must be a file on the volume, such as example/etcd"
	Path string `json:"path"`
}
