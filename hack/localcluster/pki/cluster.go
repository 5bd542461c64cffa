// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Names of the files in the PKI directory, without .crt and .key.
const (
	ClusterAuthority    = "ca"
	FrontProxyAuthority = "front-proxy-ca"
	APIServer           = "apiserver"
	KubeletClient       = "apiserver-kubelet-client"
	FrontProxyClient    = "front-proxy-client"
	ServiceAccounts     = "service-accounts"
)

// File returns the path of a file in the PKI directory. suffix is ".crt" (certificate), ".key" (private key) or ".pub"
// (public key).
func File(st *state.State, name, suffix string) string {
	return filepath.Join(st.PKIDir(), name+suffix)
}

// Create creates all certificates and keys of the control plane. service is the ClusterIP of the API server.
func Create(st *state.State, service netip.Addr) error {
	ca, err := createAuthority(st, ClusterAuthority)
	if err != nil {
		return err
	}
	proxy, err := createAuthority(st, FrontProxyAuthority)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		by   *Authority
		file string
		Subject
	}{
		{ca, APIServer, apiServer(st, service)},
		{ca, KubeletClient, Subject{Name: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}}},
		{proxy, FrontProxyClient, Subject{Name: "front-proxy-client"}},
	} {
		pair, err := c.by.Issue(c.Subject)
		if err != nil {
			return err
		}
		if err := pair.Write(st.PKIDir(), c.file); err != nil {
			return err
		}
	}
	return createSigningKey(st)
}

func createAuthority(st *state.State, name string) (*Authority, error) {
	a, err := NewAuthority(name)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	return a, a.Write(st.PKIDir(), name)
}

func apiServer(st *state.State, service netip.Addr) Subject {
	return Subject{
		Name: "kube-apiserver",
		Names: []string{"localhost", state.ControlPlaneName, "kubernetes", "kubernetes.default",
			"kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1"), st.ControlPlane.Address, service},
	}
}

// createSigningKey creates the key that signs service account tokens.
func createSigningKey(st *state.State) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	privatePEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
	if err := state.WriteFile(File(st, ServiceAccounts, ".key"), privatePEM, 0o600); err != nil {
		return err
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	return state.WriteFile(File(st, ServiceAccounts, ".pub"), publicPEM, 0o644)
}
