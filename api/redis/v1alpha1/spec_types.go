// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PersistentSpec gives every pod a volume. Whether pods have volumes cannot be changed after the cluster is created.
// +kubebuilder:validation:XValidation:rule="!has(self.volumeSize) || !has(oldSelf.volumeSize) || string(self.volumeSize).matches('[eE]') || string(oldSelf.volumeSize).matches('[eE]') || !quantity(string(self.volumeSize).replace(' ', \"\")).isLessThan(quantity(string(oldSelf.volumeSize).replace(' ', \"\")))",message="persistentSpec.volumeSize cannot be lowered, because volumes can only grow; create a new cluster and copy the data"
type PersistentSpec struct {
	// enabled gives every pod a volume: true (the default) or false, which may also be written as text. It takes effect
	// only when the cluster is created.
	// +optional
	Enabled Switch `json:"enabled,omitempty"`

	// storageClassName is the StorageClass of the claims. Without it they get the default class of the Kubernetes
	// cluster. It takes effect only when the cluster is created.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`

	// volumeSize is the size of each claim; default five times the memory of a pod. It can be raised but not lowered. A
	// larger size applies to new claims, and to existing ones only if enablePersistentVolumeResize is true.
	// +optional
	VolumeSize Amount `json:"volumeSize,omitempty"`

	// enablePersistentVolumeResize makes existing volumes grow to volumeSize while pods use them; default false. The
	// StorageClass must allow volume expansion. Without volumeSize it has no effect.
	// +optional
	EnablePersistentVolumeResize Switch `json:"enablePersistentVolumeResize,omitempty"`
}

// Resources are the requests and limits of a pod.
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.requests) || self.requests.all(r, !(r in self.limits) || string(self.requests[r]).matches('[eE]') || string(self.limits[r]).matches('[eE]') || !quantity(string(self.requests[r]).replace(' ', \"\")).isGreaterThan(quantity(string(self.limits[r]).replace(' ', \"\"))))",message="requests must not be higher than limits"
type Resources struct {
	// limits are the maximum amounts that the pod may use, by resource name, such as cpu: "2" and memory: 4Gi.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Limits map[corev1.ResourceName]Amount `json:"limits,omitempty"`

	// requests are the amounts that Kubernetes reserves for the pod, by resource name. A request must not exceed the
	// limit of the same resource, and defaults to that limit.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Requests map[corev1.ResourceName]Amount `json:"requests,omitempty"`

	// claims are accepted and have no effect.
	// +optional
	Claims Unused `json:"claims,omitempty"`
}

// Setting is the value of a setting in redis.conf. A number needs no quotes.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule="type(self) == int || self.matches('^[ !#-&(-\\\\[\\\\]-~]*$')",message="redisConfig: a value must be one line without quotes and backslashes; write an empty value without quotes"
type Setting string

// UnmarshalJSON accepts a JSON string or a JSON number, and keeps its text.
func (s *Setting) UnmarshalJSON(raw []byte) error {
	*s = Setting(textOf(raw))
	return nil
}

// ImageSpec is an image reference in parts: <repository>:<versionTag>, or <repository>@<digestHash>.
type ImageSpec struct {
	// repository of the image, without a tag, such as docker.io/valkey/valkey.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	Repository string `json:"repository,omitempty"`
	// versionTag is the tag of the image, such as 8.1.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	VersionTag string `json:"versionTag,omitempty"`
	// digestHash is the digest of the image, such as sha256:0123..., which replaces versionTag.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	DigestHash string `json:"digestHash,omitempty"`
	// imagePullPolicy sets when nodes pull the image: Always, IfNotPresent (the default) or Never.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
}

// UpgradeSpec sets whether an upgrade of the operator may change the image of the servers.
type UpgradeSpec struct {
	// autoUpgradeRedisEnterprise lets an upgrade of the operator move servers from the old default image to the new
	// one, one pod after another; default false. Without it pods keep their image until another change of the spec
	// replaces the pods.
	// +optional
	AutoUpgradeRedisEnterprise bool `json:"autoUpgradeRedisEnterprise,omitempty"`
}

// Certificates are the names of Secrets with certificates. Each Secret has the keys named certificate and key.
type Certificates struct {
	// cmCertificateSecretName is the Secret with the certificate of the status page, under the keys certificate and
	// key. Without it the status page has a self-signed certificate.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CMCertificateSecretName string `json:"cmCertificateSecretName,omitempty"`

	CertificatesNotServed `json:",inline"`
}

// CertificatesNotServed are certificates for components of Redis Enterprise that opcrew does not have. They have no
// effect.
type CertificatesNotServed struct {
	// +optional
	APICertificateSecretName Unused `json:"apiCertificateSecretName,omitempty"`
	// +optional
	CPInternodeEncryptionCertificateSecretName Unused `json:"cpInternodeEncryptionCertificateSecretName,omitempty"`
	// +optional
	DPInternodeEncryptionCertificateSecretName Unused `json:"dpInternodeEncryptionCertificateSecretName,omitempty"`
	// +optional
	LDAPClientCertificateSecretName Unused `json:"ldapClientCertificateSecretName,omitempty"`
	// +optional
	MetricsExporterCertificateSecretName Unused `json:"metricsExporterCertificateSecretName,omitempty"`
	// +optional
	ProxyCertificateSecretName Unused `json:"proxyCertificateSecretName,omitempty"`
	// +optional
	SSOIssuerCertificateSecretName Unused `json:"ssoIssuerCertificateSecretName,omitempty"`
	// +optional
	SSOServiceCertificateSecretName Unused `json:"ssoServiceCertificateSecretName,omitempty"`
	// +optional
	SyncerCertificateSecretName Unused `json:"syncerCertificateSecretName,omitempty"`
}

// ServicesSpec are settings of the Services for clients and for the status page.
type ServicesSpec struct {
	// servicesAnnotations are added to the Services for clients and for the status page.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ServicesAnnotations map[string]string `json:"servicesAnnotations,omitempty"`
	// apiService is accepted and has no effect.
	// +optional
	APIService Unused `json:"apiService,omitempty"`
}
