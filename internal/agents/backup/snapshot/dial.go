// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

const (
	// keepAlive is how often a silent member is probed, and keepAliveTimeout how long it may take to respond. Without
	// probes, a read from a member on a failed node would never end.
	keepAlive        = 10 * time.Second
	keepAliveTimeout = 3 * time.Second
	// window is how much of a stream is buffered, in bytes. By default, gRPC buffers up to 16 MiB.
	window = 1 << 20
)

// member is a connection to one etcd member.
type member struct {
	endpoint    string
	client      *clientv3.Client
	maintenance etcdserverpb.MaintenanceClient
}

func dial(endpoint string, config *tls.Config) (*member, error) {
	if config == nil && strings.HasPrefix(endpoint, "https://") {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            []string{endpoint},
		TLS:                  config,
		Logger:               zap.NewNop(), // the agent reports errors in its result instead
		DialKeepAliveTime:    keepAlive,
		DialKeepAliveTimeout: keepAliveTimeout,
		DialOptions:          []grpc.DialOption{grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window)},
	})
	if err != nil {
		return nil, err
	}
	return &member{endpoint, client, etcdserverpb.NewMaintenanceClient(client.ActiveConnection())}, nil
}

// loadTLS reads the client certificates. The file names are those of the CoreOS operator.
func loadTLS(dir string) (*tls.Config, error) {
	if dir == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "etcd-client.crt"), filepath.Join(dir, "etcd-client.key"))
	if err != nil {
		return nil, backup.Fail(backup.ReasonSecretInvalid, "the TLS Secret has no usable etcd-client.crt and etcd-client.key: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "etcd-client-ca.crt"))
	if err != nil {
		return nil, backup.Fail(backup.ReasonSecretInvalid, "the TLS Secret has no usable etcd-client-ca.crt: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, backup.Fail(backup.ReasonSecretInvalid, "etcd-client-ca.crt of the TLS Secret contains no certificate")
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}
