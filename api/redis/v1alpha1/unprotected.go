// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "strings"

// Unprotected returns a message if the spec requests a protection that opcrew does not implement, such as encryption.
// The message names the fields, and says what is missing and what to do. Otherwise the result is empty.
func (s *RedisEnterpriseClusterSpec) Unprotected() string {
	var out []string
	add := func(field string, asks bool, missing string) {
		if asks {
			out = append(out, field+": "+missing)
		}
	}
	const servers = "replication and the cluster bus are not encrypted"
	add("dataInternodeEncryption", s.DataInternodeEncryption.Asks(), servers)
	add("encryptPkeys", s.EncryptPkeys.Asks(), "private keys in pods are not encrypted")
	add("clusterCredentialSecretType", s.ClusterCredentialSecretType.Asks() && s.ClusterCredentialSecretType != `"kubernetes"`,
		"passwords are stored in a Kubernetes Secret")
	if c := s.Certificates; c != nil {
		add("certificates.cpInternodeEncryptionCertificateSecretName", c.CPInternodeEncryptionCertificateSecretName.Asks(), servers)
		add("certificates.dpInternodeEncryptionCertificateSecretName", c.DPInternodeEncryptionCertificateSecretName.Asks(), servers)
		add("certificates.metricsExporterCertificateSecretName", c.MetricsExporterCertificateSecretName.Asks(), "metrics are served without TLS")
		add("certificates.proxyCertificateSecretName", c.ProxyCertificateSecretName.Asks(), "clients connect without TLS")
	}
	if len(out) == 0 {
		return ""
	}
	return "The spec requests a protection that opcrew does not implement: " + strings.Join(out, "; ") + ". Remove the fields to accept that. " +
		"If connections must be encrypted, use a pod network that encrypts them, such as one with WireGuard; the field access limits which clients can connect"
}
