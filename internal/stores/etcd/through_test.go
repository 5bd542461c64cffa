// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

// certified returns a server with a certificate for example.com, and the CA of this certificate.
func certified(t *testing.T, name string) (*server, *x509.CertPool) {
	t.Helper()
	issuer := httptest.NewTLSServer(http.NotFoundHandler())
	defer issuer.Close()
	key, err := x509.MarshalPKCS8PrivateKey(issuer.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, block := range map[string]*pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: issuer.Certificate().Raw},
		"key":  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newServer(t, name)
	s.client = "https://" + loopback.Address()
	s.flags = []string{"--cert-file=" + filepath.Join(dir, "cert"), "--key-file=" + filepath.Join(dir, "key")}
	roots := x509.NewCertPool()
	roots.AddCert(issuer.Certificate())
	return s, roots
}

func TestMembersCanBeReachedByADialerThatIsGiven(t *testing.T) {
	const host = "m1.members.ns.svc:2379" // DNS does not know this host
	plain := newServer(t, "m1")
	plain.start(t, "new", plain)
	secure, roots := certified(t, "m1")
	secure.start(t, "new", secure)
	for title, c := range map[string]struct {
		server   *server
		endpoint string
		security *tls.Config
		refused  string
	}{
		"plain":                       {server: plain, endpoint: "http://" + host},
		"TLS":                         {server: secure, endpoint: "https://example.com:2379", security: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
		"TLS for another name":        {server: secure, endpoint: "https://" + host, security: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, refused: "not m1.members.ns.svc"},
		"TLS of an unknown authority": {server: secure, endpoint: "https://example.com:2379", security: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}, refused: "unknown authority"},
	} {
		t.Run(title, func(t *testing.T) {
			_, address, _ := strings.Cut(c.server.client, "://")
			dial := func(ctx context.Context, network, asked string) (net.Conn, error) {
				if !strings.HasSuffix(c.endpoint, "://"+asked) {
					t.Errorf("expected the host of %s to be dialled, got %s", c.endpoint, asked)
				}
				return (&net.Dialer{}).DialContext(ctx, network, address)
			}
			store, err := etcd.DialThrough(dial)(etcd.Target{Endpoints: []string{c.endpoint}, TLS: c.security, Addresses: map[string]string{"m1.members.ns.svc": "10.0.0.7", "example.com": "10.0.0.8"}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() }) // no call is running, so an error does not matter
			if c.refused != "" {
				wantRefused(t, store, c.endpoint, c.refused)
				return
			}
			within(t, "ask the member", whatever, func(ctx context.Context) error {
				if _, _, err := store.Members(ctx); err != nil {
					return err
				}
				if status, err := store.Status(ctx, c.endpoint); err != nil {
					return err
				} else if status.ID == 0 {
					t.Errorf("expected a member to answer, got %+v", status)
				}
				_, err := store.ClusterVersion(ctx, c.endpoint)
				return err
			})
		})
	}
}

// wantRefused waits until the member listens. It then expects that both the gRPC connection and the HTTP connection for
// the cluster version are refused, with an error that contains the text in says.
func wantRefused(t *testing.T, store etcd.Store, endpoint, says string) {
	t.Helper()
	refused := func(err error) error {
		if err == nil {
			t.Fatalf("expected the member to be refused: %q", says)
		}
		if strings.Contains(err.Error(), says) {
			return nil
		}
		return err
	}
	within(t, "the member is refused", whatever, func(ctx context.Context) error {
		_, err := store.Status(ctx, endpoint)
		return refused(err)
	})
	within(t, "the member is refused for its version", whatever, func(ctx context.Context) error {
		_, err := store.ClusterVersion(ctx, endpoint)
		return refused(err)
	})
}
