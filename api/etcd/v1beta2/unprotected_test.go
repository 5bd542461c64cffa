// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"strings"
	"testing"
)

func TestAClusterWhoseTLSNamesNoSecretsIsUnprotected(t *testing.T) {
	for name, c := range map[string]struct {
		tls  *TLSPolicy
		want bool
	}{
		"TLS is not asked for":    {nil, false},
		"TLS is empty":            {&TLSPolicy{}, true},
		"the members are empty":   {&TLSPolicy{Static: &StaticTLS{Member: &MemberSecret{}}}, true},
		"members have a Secret":   {&TLSPolicy{Static: &StaticTLS{Member: &MemberSecret{PeerSecret: "peer"}}}, false},
		"clients have one":        {&TLSPolicy{Static: &StaticTLS{Member: &MemberSecret{ServerSecret: "s"}, OperatorSecret: "o"}}, false},
		"static without a member": {&TLSPolicy{Static: &StaticTLS{}}, true},
	} {
		cluster := &EtcdCluster{Spec: EtcdClusterSpec{TLS: c.tls}}
		if got := cluster.Unprotected(); (got != "") != c.want {
			t.Errorf("%s: expected a message: %t, got %q", name, c.want, got)
		}
	}
}

func TestABackupThatReadsAMemberWithoutTheTLSThatItAsksForIsUnprotected(t *testing.T) {
	b := &EtcdBackup{}
	b.Spec.EtcdEndpoints = []string{"https://a:2379", "http://b:2379"}
	if got := b.Unprotected(); got != "" {
		t.Errorf("expected no message without clientTLSSecret, got %q", got)
	}
	b.Spec.ClientTLSSecret = "client"
	if got := b.Unprotected(); !strings.Contains(got, "http://b:2379 is read without it") {
		t.Errorf("expected the message to name the member, got %q", got)
	}
	b.Spec.EtcdEndpoints = b.Spec.EtcdEndpoints[:1]
	if got := b.Unprotected(); got != "" {
		t.Errorf("expected no message if all members are read over https, got %q", got)
	}
}

func TestBackupsToAnEndpointOfHTTPAreUnencrypted(t *testing.T) {
	s3 := func(endpoint string) Storage { return Storage{S3: &S3Source{Endpoint: endpoint}} }
	for name, c := range map[string]struct {
		storage Storage
		kind    StorageType
		want    string
	}{
		"Amazon":                        {s3(""), StorageS3, ""},
		"a server by https":             {s3("https://minio:9000"), StorageS3, ""},
		"a server without a scheme":     {s3("minio:9000"), StorageS3, ""},
		"a server by http":              {s3("http://minio:9000"), StorageS3, "s3.endpoint is http://minio:9000"},
		"a server by http in capitals":  {s3("HTTP://minio:9000"), StorageS3, "s3.endpoint is HTTP://minio:9000"},
		"the section of another type":   {s3("http://minio:9000"), StorageGCS, ""},
		"Alibaba":                       {Storage{OSS: &OSSSource{}}, StorageOSS, ""},
		"Alibaba by http, on request":   {Storage{OSS: &OSSSource{Endpoint: "http://oss"}}, StorageOSS, "oss.endpoint is http://oss"},
		"a volume in the same cluster":  {Storage{PVC: &PVCSource{}}, StoragePVC, ""},
		"a section that does not exist": {Storage{}, StorageOSS, ""},
	} {
		if got := c.storage.Unencrypted(c.kind); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}
