// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// PersistentSpec gives every pod a volume. Whether there are any is chosen when a cluster is made.
// +kubebuilder:validation:XValidation:rule="!has(self.volumeSize) || !has(oldSelf.volumeSize) || string(self.volumeSize).matches('[eE]') || string(oldSelf.volumeSize).matches('[eE]') || !quantity(string(self.volumeSize).replace(' ', \"\")).isLessThan(quantity(string(oldSelf.volumeSize).replace(' ', \"\")))",message="persistentSpec.volumeSize cannot be lowered: volumes only grow; make a new cluster and copy the data"
type PersistentSpec struct {
	// enabled is true or false, also as text; default true.
	// +optional
	Enabled Switch `json:"enabled,omitempty"`

	// storageClassName of the claims; without it the default class. It is chosen when a cluster is made.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`

	// volumeSize of each claim; default five times the memory of a pod. A larger one counts for claims that are
	// made from then on, and with enablePersistentVolumeResize for those that there are.
	// +optional
	VolumeSize Amount `json:"volumeSize,omitempty"`

	// enablePersistentVolumeResize has the volumes of pods grow with volumeSize, while they are in use; default false.
	// The class of the volumes must allow it. Without a volumeSize they stay as they are.
	// +optional
	EnablePersistentVolumeResize Switch `json:"enablePersistentVolumeResize,omitempty"`
}

// Resources are what a pod asks for and what it may use at most.
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !has(self.requests) || self.requests.all(r, !(r in self.limits) || string(self.requests[r]).matches('[eE]') || string(self.limits[r]).matches('[eE]') || !quantity(string(self.requests[r]).replace(' ', \"\")).isGreaterThan(quantity(string(self.limits[r]).replace(' ', \"\"))))",message="requests must not be higher than limits"
type Resources struct {
	// limits are what the pod may use at most.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Limits map[corev1.ResourceName]Amount `json:"limits,omitempty"`

	// requests are what is kept free for the pod; where there are only limits, it is those.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Requests map[corev1.ResourceName]Amount `json:"requests,omitempty"`

	// claims are accepted and not used.
	// +optional
	Claims Unused `json:"claims,omitempty"`
}

// Setting is the value of a setting, as it stands in redis.conf; a number need not be quoted.
// +kubebuilder:validation:Type=""
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule="type(self) == int || self.matches('^[ !#-&(-\\\\[\\\\]-~]*$')",message="redisConfig: a value is of one line, without quotes and backslashes; an empty one need not be quoted"
type Setting string

// UnmarshalJSON takes a number for its digits.
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
	// digestHash is used in place of a tag, such as sha256:0123...
	// +optional
	// +kubebuilder:validation:MaxLength=128
	DigestHash string `json:"digestHash,omitempty"`
	// imagePullPolicy tells when the image is pulled; default IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
}

// UpgradeSpec tells what an upgrade of the operator may change.
type UpgradeSpec struct {
	// autoUpgradeRedisEnterprise has servers of the default image change to the default image of a newer
	// operator, one pod after another. Without it they keep theirs until the spec changes.
	// +optional
	AutoUpgradeRedisEnterprise bool `json:"autoUpgradeRedisEnterprise,omitempty"`
}

// Certificates are Secrets with certificates, under the keys certificate and key.
type Certificates struct {
	// cmCertificateSecretName is that of the status page. While there is none, the page has one that nobody has signed.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CMCertificateSecretName string `json:"cmCertificateSecretName,omitempty"`

	CertificatesNotServed `json:",inline"`
}

// CertificatesNotServed are of parts that there are not; they are accepted and not used.
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

// ServicesSpec are wishes for both Services.
type ServicesSpec struct {
	// servicesAnnotations are added to both Services.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ServicesAnnotations map[string]string `json:"servicesAnnotations,omitempty"`
	// apiService is accepted and not used.
	// +optional
	APIService Unused `json:"apiService,omitempty"`
}
