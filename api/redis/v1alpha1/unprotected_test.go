// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAFieldThatAsksForAProtectionThatIsNotGivenIsNamed(t *testing.T) {
	for spec, want := range map[string]string{
		`{"dataInternodeEncryption": true}`:                                            "dataInternodeEncryption: replication and the cluster bus are not encrypted",
		`{"encryptPkeys": true}`:                                                       "encryptPkeys: private keys",
		`{"clusterCredentialSecretType": "vault"}`:                                     "clusterCredentialSecretType: passwords",
		`{"certificates": {"cpInternodeEncryptionCertificateSecretName": "a"}}`:        "cpInternodeEncryptionCertificateSecretName: replication",
		`{"certificates": {"dpInternodeEncryptionCertificateSecretName": "a"}}`:        "dpInternodeEncryptionCertificateSecretName: replication",
		`{"certificates": {"metricsExporterCertificateSecretName": "a"}}`:              "metricsExporterCertificateSecretName: metrics",
		`{"certificates": {"proxyCertificateSecretName": "a"}}`:                        "proxyCertificateSecretName: clients connect without TLS",
		`{"dataInternodeEncryption": false, "encryptPkeys": ""}`:                       "",
		`{"clusterCredentialSecretType": "kubernetes"}`:                                "",
		`{"certificates": {"cmCertificateSecretName": "a"}, "backup": {"kind": "s3"}}`: "",
	} {
		parsed := RedisEnterpriseClusterSpec{}
		if err := json.Unmarshal([]byte(spec), &parsed); err != nil {
			t.Fatal(err)
		}
		if got := parsed.Unprotected(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: expected %q, got %q", spec, want, got)
		}
	}
}
