// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"slices"
)

// NotServed contains fields of Redis Enterprise for features that Redis and Valkey lack, or that the operator always
// provides. They accept any value and have no effect. Condition FieldsIgnored names those that are set.
type NotServed struct {
	// +optional
	ActiveActive Unused `json:"activeActive,omitempty"`
	// +optional
	Auditing Unused `json:"auditing,omitempty"`
	// +optional
	Backup Unused `json:"backup,omitempty"`
	// +optional
	BootstrapperImageSpec Unused `json:"bootstrapperImageSpec,omitempty"`
	// +optional
	BootstrapperResources Unused `json:"bootstrapperResources,omitempty"`
	// +optional
	CallHomeClient Unused `json:"callHomeClient,omitempty"`
	// +optional
	ClusterCredentialSecretRole Unused `json:"clusterCredentialSecretRole,omitempty"`
	// +optional
	ClusterCredentialSecretType Unused `json:"clusterCredentialSecretType,omitempty"`
	// +optional
	ContainerTimezone Unused `json:"containerTimezone,omitempty"`
	// +optional
	DataInternodeEncryption Unused `json:"dataInternodeEncryption,omitempty"`
	// +optional
	EncryptPkeys Unused `json:"encryptPkeys,omitempty"`
	// +optional
	EnforceIPv4 Unused `json:"enforceIPv4,omitempty"`
	// +optional
	IngressOrRouteSpec Unused `json:"ingressOrRouteSpec,omitempty"`
	// +optional
	LDAP Unused `json:"ldap,omitempty"`
	// +optional
	License Unused `json:"license,omitempty"`
	// +optional
	LicenseSecretName Unused `json:"licenseSecretName,omitempty"`
	// +optional
	OCSPConfiguration Unused `json:"ocspConfiguration,omitempty"`
	// +optional
	OSSClusterSettings Unused `json:"ossClusterSettings,omitempty"`
	// +optional
	PodSecurityPolicyName Unused `json:"podSecurityPolicyName,omitempty"`
	// +optional
	PodStartingPolicy Unused `json:"podStartingPolicy,omitempty"`
	// +optional
	RedisEnterpriseAdditionalPodSpecAttributes Unused `json:"redisEnterpriseAdditionalPodSpecAttributes,omitempty"`
	// +optional
	RedisEnterpriseIPFamily Unused `json:"redisEnterpriseIPFamily,omitempty"`
	// +optional
	RedisEnterpriseServicesConfiguration Unused `json:"redisEnterpriseServicesConfiguration,omitempty"`
	// +optional
	RedisEnterpriseServicesRiggerImageSpec Unused `json:"redisEnterpriseServicesRiggerImageSpec,omitempty"`
	// +optional
	RedisEnterpriseServicesRiggerResources Unused `json:"redisEnterpriseServicesRiggerResources,omitempty"`
	// +optional
	RedisOnFlashSpec Unused `json:"redisOnFlashSpec,omitempty"`
	// +optional
	RedisUpgradePolicy Unused `json:"redisUpgradePolicy,omitempty"`
	// +optional
	Resp3Default Unused `json:"resp3Default,omitempty"`
	// +optional
	SecurityContext Unused `json:"securityContext,omitempty"`
	// +optional
	ServiceBrokerSpec Unused `json:"serviceBrokerSpec,omitempty"`
	// +optional
	ServicesRiggerSpec Unused `json:"servicesRiggerSpec,omitempty"`
	// +optional
	SlaveHA Unused `json:"slaveHA,omitempty"`
	// +optional
	SSO Unused `json:"sso,omitempty"`
	// +optional
	UsageMeter Unused `json:"usageMeter,omitempty"`
	// +optional
	UsageReportFields Unused `json:"usageReportFields,omitempty"`
	// +optional
	UserDefinedModules Unused `json:"userDefinedModules,omitempty"`
	// +optional
	VaultCASecret Unused `json:"vaultCASecret,omitempty"`
}

// Ignored returns the fields of the spec that request a feature and have no effect, as sorted dotted paths. An empty
// value, or one that turns the feature off, requests nothing.
func (s *RedisEnterpriseClusterSpec) Ignored() []string {
	out := asking("", s.NotServed)
	if s.Certificates != nil {
		out = append(out, asking("certificates.", s.Certificates.CertificatesNotServed)...)
	}
	if r := s.RedisEnterpriseNodeResources; r != nil && r.Claims.Asks() {
		out = append(out, "redisEnterpriseNodeResources.claims")
	}
	if s.Services != nil && s.Services.APIService.Asks() {
		out = append(out, "services.apiService")
	}
	slices.Sort(out)
	return out
}

// asking returns the names of the fields that request a feature, each with the prefix. unused is a struct whose fields
// all have type Unused.
func asking(prefix string, unused any) []string {
	var fields map[string]Unused
	if raw, err := json.Marshal(unused); err == nil {
		_ = json.Unmarshal(raw, &fields) // cannot fail, because Unused accepts any JSON value
	}
	var out []string
	for name, value := range fields {
		if value.Asks() {
			out = append(out, prefix+name)
		}
	}
	return out
}
