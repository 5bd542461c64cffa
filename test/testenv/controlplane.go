// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"fmt"
	"net/http"
)

// auditPolicy logs every request exactly once: a watch when it starts, because it may never end, and every other
// request when the server responds.
//
//go:embed audit-policy.yaml
var auditPolicy []byte

// controlPlane starts etcd and the API server.
type controlPlane struct {
	bins  binaries
	sup   *supervisor
	creds *credentials
	extra []string // additional flags for the API server
}

// start starts etcd and the API server. Once the API server is ready, it returns the server's URL.
func (c *controlPlane) start(ctx context.Context) (string, error) {
	etcd, err := onFreePort("etcd", func(port int) (*process, string, error) { return c.startEtcd(ctx, port) })
	if err != nil {
		return "", err
	}
	if err := c.creds.write("audit-policy.yaml", auditPolicy); err != nil {
		return "", fmt.Errorf("writing the audit policy: %w", err)
	}
	return onFreePort("kube-apiserver", func(port int) (*process, string, error) { return c.startAPIServer(ctx, port, etcd) })
}

func (c *controlPlane) startEtcd(ctx context.Context, port int) (*process, string, error) {
	binary, err := c.bins.kube("etcd")
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	p, err := c.sup.start("etcd", binary,
		"--data-dir="+c.creds.path("etcd"),
		"--listen-client-urls="+url,
		"--advertise-client-urls="+url,
		"--listen-peer-urls=http://127.0.0.1:0",
		"--unsafe-no-fsync", // the data need not outlive the tests
		"--log-level=warn",
	)
	if err != nil {
		return nil, "", err
	}
	return p, url, waitReady(ctx, p, http.DefaultClient, url+"/readyz")
}

func (c *controlPlane) startAPIServer(ctx context.Context, port int, etcd string) (*process, string, error) {
	binary, err := c.bins.kube("kube-apiserver")
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	p, err := c.sup.start("kube-apiserver", binary, append(c.apiServerFlags(port, etcd, url), c.extra...)...)
	if err != nil {
		return nil, "", err
	}
	return p, url, waitReady(ctx, p, c.httpClient(), url+"/readyz")
}

func (c *controlPlane) apiServerFlags(port int, etcd, url string) []string {
	return []string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1", // allows a start on a machine without a network
		"--endpoint-reconciler-type=none",
		fmt.Sprintf("--secure-port=%d", port),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=" + c.creds.path("serving.crt"),
		"--tls-private-key-file=" + c.creds.path("serving.key"),
		"--token-auth-file=" + c.creds.path("tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=" + url,
		"--service-account-key-file=" + c.creds.path("serviceaccounts.key"),
		"--service-account-signing-key-file=" + c.creds.path("serviceaccounts.key"),
		"--audit-policy-file=" + c.creds.path("audit-policy.yaml"),
		"--audit-log-path=" + c.creds.path(auditLog),
		"--audit-log-mode=blocking",
		// By default the server rotates the log at 100 MB. Then positions in the file would become invalid.
		"--audit-log-maxsize=1000000",
		"--allow-privileged=true",
		"--profiling=false",
	}
}

func (c *controlPlane) httpClient() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.creds.ca)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
}
