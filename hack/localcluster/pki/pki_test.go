// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

func newState(t *testing.T) *state.State {
	t.Helper()
	return &state.State{
		Dir:          t.TempDir(),
		ControlPlane: state.Machine{Address: netip.MustParseAddr("10.214.0.1")},
	}
}

func TestTheAPIServersCertificateHoldsForAllItsAddresses(t *testing.T) {
	st := newState(t)
	if err := Create(st, netip.MustParseAddr("10.96.0.1")); err != nil {
		t.Fatal(err)
	}
	ca, err := LoadAuthority(st.PKIDir(), ClusterAuthority)
	if err != nil {
		t.Fatal(err)
	}
	server, err := LoadAuthority(st.PKIDir(), APIServer) // LoadAuthority can read any certificate and key
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	for _, host := range []string{"10.214.0.1", "10.96.0.1", "127.0.0.1", "kubernetes.default.svc"} {
		if _, err := server.cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestAClientKubeconfigNamesUserAndGroups(t *testing.T) {
	st := newState(t)
	if err := Create(st, netip.MustParseAddr("10.96.0.1")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(st.Dir, "kubeconfig")
	if err := ClientKubeconfig(st, path, "system:node:node1", "system:nodes"); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://10.214.0.1:6443" {
		t.Errorf("server %s", config.Host)
	}
	block, _ := pem.Decode(config.CertData)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if cert.Subject.CommonName != "system:node:node1" || cert.Subject.Organization[0] != "system:nodes" {
		t.Errorf("subject %v", cert.Subject)
	}
}
