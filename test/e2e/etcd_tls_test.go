// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/test/e2e/etcd"
)

// authority signs the certificates of one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// certificate returns a template for a certificate that is valid for three months. Members may refuse a certificate
// that expires soon.
func certificate(name string, hosts ...string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature,
		// A member connects to itself and to other members, so it needs a client certificate too.
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := certificate(name)
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// issue returns a new certificate and its key in PEM.
func (a *authority) issue(t *testing.T, name string, hosts ...string) (cert, key []byte) {
	t.Helper()
	own := newKey(t)
	raw, err := x509.CreateCertificate(rand.Reader, certificate(name, hosts...), a.cert, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// files returns a new certificate, its key and the CA. The keys of the map are the names that the CoreOS operator uses
// in Secrets.
func (a *authority) files(t *testing.T, name, files string, hosts ...string) map[string][]byte {
	t.Helper()
	cert, key := a.issue(t, name, hosts...)
	return map[string][]byte{files + ".crt": cert, files + ".key": key, files + "-ca.crt": a.pem()}
}

// secret creates a Secret with a new certificate, in the format that members and the operator expect.
func (e *etcdTest) secret(t *testing.T, a *authority, name, files string, hosts ...string) {
	t.Helper()
	s := &corev1.Secret{Data: a.files(t, name, files, hosts...)}
	s.Namespace, s.Name = e.ns, name
	if err := e.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// withTLS creates the Secrets that the documentation of the CoreOS operator shows, and a client certificate for the
// test.
func (e *etcdTest) withTLS(t *testing.T) map[string]any {
	t.Helper()
	e.peers, e.servers = newAuthority(t, "peers"), newAuthority(t, "servers")
	members := fmt.Sprintf("*.%s.%s.svc", articleEtcd, e.ns)
	service := fmt.Sprintf("%s-client.%s.svc", articleEtcd, e.ns)
	e.secret(t, e.peers, "etcd-peer-tls", "peer", members, members+".cluster.local")
	e.secret(t, e.servers, "etcd-server-tls", "server", members, members+".cluster.local", service, service+".cluster.local", "localhost")
	e.secret(t, e.servers, "etcd-client-tls", "etcd-client")
	pair, err := tls.X509KeyPair(e.servers.issue(t, "test"))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(e.servers.cert)
	e.security = &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: trusted, MinVersion: tls.VersionTLS12}
	return map[string]any{"TLS": map[string]any{"static": map[string]any{
		"member":         map[string]any{"peerSecret": "etcd-peer-tls", "serverSecret": "etcd-server-tls"},
		"operatorSecret": "etcd-client-tls",
	}}}
}

func TestTheWalkOfTheArticleOnEtcdWithTLS(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.Releases()...)
			e.create(t, asked(3, etcd.V34, both(how, e.withTLS(t))...))
			e.put(t, "foo", "bar")
			e.during(t, "the article's steps with TLS", false, func() {
				e.scale(t, 4)
				e.await(t, 4, etcd.V34)
				for _, version := range etcd.Releases()[1:] {
					e.edit(t, fmt.Sprintf(`{"version":%q}`, version))
					e.await(t, 4, version)
				}
				e.deletePod(t, e.pods(t)[0])
				e.await(t, 4, etcd.V37)
			})
			e.wantValue(t, "foo", "bar")
			e.security = &tls.Config{RootCAs: e.security.RootCAs, MinVersion: tls.VersionTLS12}
			err := e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
				_, err := c.Get(ctx, "foo")
				return err
			})
			if err == nil {
				t.Error("a client without a certificate was served")
			}
		})
	}
}
