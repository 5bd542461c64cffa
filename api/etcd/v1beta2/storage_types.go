// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// StorageType is where backups are kept.
type StorageType string

// Storage types. S3, ABS, GCS and OSS are those of the CoreOS operator.
const (
	StorageS3  StorageType = "S3"
	StorageABS StorageType = "ABS"
	StorageGCS StorageType = "GCS"
	StorageOSS StorageType = "OSS"
	// StoragePVC is a claim in the namespace of the object.
	StoragePVC StorageType = "PVC"
)

// DefaultOSSEndpoint is the default of the CoreOS operator, with https in place of http.
const DefaultOSSEndpoint = "https://oss-cn-hangzhou.aliyuncs.com"

// Storage is the location of backups, in the section of the storage type.
type Storage struct {
	// s3 is a bucket of S3, or of a server that speaks its protocol.
	// +optional
	S3 *S3Source `json:"s3,omitempty"`
	// abs is a container of Azure Blob Storage.
	// +optional
	ABS *ABSSource `json:"abs,omitempty"`
	// gcs is a bucket of Google Cloud Storage.
	// +optional
	GCS *GCSSource `json:"gcs,omitempty"`
	// oss is a bucket of Alibaba's Object Storage Service.
	// +optional
	OSS *OSSSource `json:"oss,omitempty"`
	// pvc is a claim, whose volume is mounted while a backup is saved or restored.
	// +optional
	PVC *PVCSource `json:"pvc,omitempty"`
}

// S3Source is a location in a bucket of S3.
type S3Source struct {
	// path is "<bucket>/<key>". A single backup has exactly that key; backups of a schedule append
	// "_v<revision>_<YYYY-MM-DD-HH:MM:SS>" to it.
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <bucket>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// awsSecret holds the files credentials and config of the AWS tools, of which the profile default is used.
	// Without it the pod uses the credentials of its ServiceAccount or node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AWSSecret string `json:"awsSecret,omitempty"`
	// endpoint is the URL of a server that is not Amazon's. Without a scheme it is https. With http:// backups travel
	// unencrypted, and condition Unencrypted says so.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	Endpoint string `json:"endpoint,omitempty"`
	// forcePathStyle puts the bucket into the path of URLs, not into the host name.
	// +optional
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
}

// ABSSource is a location in a container of Azure Blob Storage.
type ABSSource struct {
	// path is "<container>/<key>".
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <container>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// absSecret holds storage-account, storage-key and, unless the cloud is the public one, cloud.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ABSSecret string `json:"absSecret"`
}

// GCSSource is a location in a bucket of Google Cloud Storage.
type GCSSource struct {
	// path is "<bucket>/<key>".
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <bucket>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// gcpSecret holds access-token or credentials.json. Without it the pod uses the credentials of its ServiceAccount or node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	GCPSecret string `json:"gcpSecret,omitempty"`
}

// OSSSource is a location in a bucket of Alibaba's Object Storage Service.
type OSSSource struct {
	// path is "<bucket>/<key>".
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/ ]+/[^/].*[^/]$|^[^/ ]+/[^/]$')",message="path must be <bucket>/<key>, such as backups/example/etcd"
	Path string `json:"path"`
	// ossSecret holds accessKeyID and accessKeySecret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	OSSSecret string `json:"ossSecret"`
	// endpoint is the service's URL, default https://oss-cn-hangzhou.aliyuncs.com. Without a scheme it is https. With http://
	// backups travel unencrypted, and condition Unencrypted says so.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	Endpoint string `json:"endpoint,omitempty"`
}

// PVCSource is a location on the volume of a claim.
type PVCSource struct {
	// claimName is a claim in the namespace of the object. The operator never deletes it or its files.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`
	// path is the file on the volume, such as example/etcd; files of a schedule are named as in a bucket.
	// +required
	// +kubebuilder:validation:MaxLength=900
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/].*[^/]$|^[^/]$') && !self.matches('(^|/)[.][.]?(/|$)')",message="path must be a file on the volume, such as example/etcd"
	Path string `json:"path"`
}
