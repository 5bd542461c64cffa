// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PersistentSpec gives every pod a volume. It takes effect when a cluster is created.
// +kubebuilder:validation:XValidation:rule="!has(self.volumeSize) || !has(oldSelf.volumeSize) || string(self.volumeSize).matches('[eE]') || string(oldSelf.volumeSize).matches('[eE]') || !quantity(string(self.volumeSize).replace(' ', \"\")).isLessThan(quantity(string(oldSelf.volumeSize).replace(' ', \"\")))",message="persistentSpec.volumeSize cannot be lowered: volumes only grow; create a new cluster and copy the data"
type PersistentSpec struct {
	// enabled is true or false, also as text; default true.
	// +optional
	Enabled Switch `json:"enabled,omitempty"`

	// storageClassName of the claims; without it the default class of the cluster. It takes effect when a cluster is created.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`

	// volumeSize of each claim; default five times the memory of a pod. A larger size applies to claims that are
	// created later, and with enablePersistentVolumeResize also to existing ones.
	// +optional
	VolumeSize Amount `json:"volumeSize,omitempty"`

	// enablePersistentVolumeResize makes the volumes of pods grow with volumeSize, while they are in use; default false.
	// The class of the volumes must allow it. Without a volumeSize they do not change.
	// +optional
	EnablePersistentVolumeResize Switch `json:"enablePersistentVolumeResize,omitempty"`
}

// Resources are the requests and limits of a pod.
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.requests) || self.requests.all(r, !(r in self.limits) || string(self.requests[r]).matches('[eE]') || string(self.limits[r]).matches('[eE]') || !quantity(string(self.requests[r]).replace(' ', \"\")).isGreaterThan(quantity(string(self.limits[r]).replace(' ', \"\"))))",message="requests must not be higher than limits"
type Resources struct {
	// limits are the most that the pod may use.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Limits map[corev1.ResourceName]Amount `json:"limits,omitempty"`

	// requests are reserved for the pod; they default to limits.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Requests map[corev1.ResourceName]Amount `json:"requests,omitempty"`

	// claims are accepted and have no effect.
	// +optional
	Claims Unused `json:"claims,omitempty"`
}

// Setting is the value of a setting as in redis.conf; a number needs no quotes.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule="type(self) == int || self.matches('^[ !#-&(-\\\\[\\\\]-~]*$')",message="redisConfig: a value must be one line without quotes and backslashes; an empty value needs no quotes"
type Setting string

// UnmarshalJSON accepts text, and a number as its digits.
func (s *Setting) UnmarshalJSON(raw []byte) error {
	*s = Setting(textOf(raw))
	return nil
}

// ImageSpec is an image in parts: <repository>:<versionTag>, or <repository>@<digestHash>.
type ImageSpec struct {
	// repository of the image, without a tag.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	Repository string `json:"repository,omitempty"`
	// versionTag is the tag.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	VersionTag string `json:"versionTag,omitempty"`
	// digestHash replaces the tag, such as sha256:0123...
	// +optional
	// +kubebuilder:validation:MaxLength=128
	DigestHash string `json:"digestHash,omitempty"`
	// imagePullPolicy is when the image is pulled; default IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
}

// UpgradeSpec sets what an upgrade of the operator may change.
type UpgradeSpec struct {
	// autoUpgradeRedisEnterprise moves servers with the default image to the default image of a newer
	// operator, one pod after another. Without it they keep theirs until the spec changes.
	// +optional
	AutoUpgradeRedisEnterprise bool `json:"autoUpgradeRedisEnterprise,omitempty"`
}

// Certificates are Secrets with certificates, under the keys certificate and key.
type Certificates struct {
	// cmCertificateSecretName is the certificate of the status page; default a self-signed one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CMCertificateSecretName string `json:"cmCertificateSecretName,omitempty"`

	CertificatesNotServed `json:",inline"`
}

// CertificatesNotServed belong to components that opcrew does not have; they are accepted and have no effect.
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

// ServicesSpec are settings for both Services.
type ServicesSpec struct {
	// servicesAnnotations are added to both Services.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ServicesAnnotations map[string]string `json:"servicesAnnotations,omitempty"`
	// apiService is accepted and has no effect.
	// +optional
	APIService Unused `json:"apiService,omitempty"`
}
