// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pki creates the cluster's certificates, keys and kubeconfigs. They are in the state directory and are removed
// with the cluster, so they are long-lived and never renewed.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

const lifetime = 10 * 365 * 24 * time.Hour

// Pair is a certificate and its private key, in PEM.
type Pair struct {
	Cert, Key []byte
}

// Authority signs certificates.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Subject describes the owner of a certificate. Names and Addresses are for servers.
type Subject struct {
	Name      string
	Groups    []string
	Names     []string
	Addresses []netip.Addr
}

// NewAuthority creates a certificate authority with a self-signed certificate.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(Subject{Name: name})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return parseAuthority(encode(der, key))
}

// LoadAuthority reads an authority that Write saved.
func LoadAuthority(dir, name string) (*Authority, error) {
	cert, err := os.ReadFile(filepath.Join(dir, name+".crt"))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, name+".key"))
	if err != nil {
		return nil, err
	}
	return parseAuthority(Pair{Cert: cert, Key: key}, nil)
}

// Issue creates a key and signs a certificate that is valid for both clients and servers.
func (a *Authority) Issue(s Subject) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	template, err := newTemplate(s)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign %s: %w", s.Name, err)
	}
	return encode(der, key)
}

// Write writes the pair to dir as NAME.crt and NAME.key.
func (p Pair) Write(dir, name string) error {
	if err := state.WriteFile(filepath.Join(dir, name+".crt"), p.Cert, 0o644); err != nil {
		return err
	}
	return state.WriteFile(filepath.Join(dir, name+".key"), p.Key, 0o600)
}

// newTemplate returns a template for a certificate that is valid from one hour ago, because this machine's clock may be
// set back later.
func newTemplate(s Subject) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: s.Name, Organization: s.Groups},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(lifetime),
		DNSNames:     s.Names,
	}
	for _, a := range s.Addresses {
		t.IPAddresses = append(t.IPAddresses, net.IP(a.AsSlice()))
	}
	return t, nil
}

func encode(der []byte, key *ecdsa.PrivateKey) (Pair, error) {
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

// parseAuthority parses the certificate and the key of an authority. It returns err if err is not nil, so that a caller
// can pass both results of a function that creates a pair.
func parseAuthority(p Pair, err error) (*Authority, error) {
	if err != nil {
		return nil, err
	}
	certBlock, _ := pem.Decode(p.Cert)
	keyBlock, _ := pem.Decode(p.Key)
	if certBlock == nil || keyBlock == nil {
		return nil, fmt.Errorf("the certificate of the authority is not in PEM")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, err
	}
	return &Authority{Pair: p, cert: cert, key: key}, nil
}
