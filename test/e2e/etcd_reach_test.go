// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// nameServer returns the address of a pod that serves DNS. Tests do not use the address of the DNS Service, because its
// traffic may pass a node that a test crashes.
func (c *cluster) nameServer(t *testing.T) string {
	t.Helper()
	slice := &discoveryv1.EndpointSlice{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "kube-dns"}, slice); err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(slice.Endpoints[0].Addresses[0], "53")
}

// dial connects from this machine to a DNS name of the cluster, as a pod does. It resolves the name for every
// connection, because a recreated pod has another address.
func (e *etcdTest) dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, e.dns)
	}}
	if strings.HasSuffix(host, ".svc") {
		host += ".cluster.local"
	}
	found, err := resolver.LookupNetIP(ctx, "ip4", strings.TrimSuffix(host, ".")+".")
	if err != nil {
		return nil, err
	}
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(found[0].String(), port))
}

func (e *etcdTest) scheme() string {
	if e.security != nil {
		return "https"
	}
	return "http"
}

// clientURL returns the URL at which a member serves clients.
func (e *etcdTest) clientURL(member string) string {
	return fmt.Sprintf("%s://%s.%s.%s.svc:2379", e.scheme(), member, articleEtcd, e.ns)
}

// serviceURL returns the URL of the client Service.
func (e *etcdTest) serviceURL() string {
	return fmt.Sprintf("%s://%s-client.%s.svc:2379", e.scheme(), articleEtcd, e.ns)
}

// ask calls do with a temporary client that is connected to one URL.
func (e *etcdTest) ask(t *testing.T, url string, do func(context.Context, *clientv3.Client) error) error {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, TLS: e.security, DialOptions: []grpc.DialOption{grpc.WithContextDialer(e.dial)}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the requests have already completed
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return do(ctx, c)
}

// wantVoters returns an error unless etcd reports exactly these members, and all of them are voters with the given
// version.
func (e *etcdTest) wantVoters(t *testing.T, names []string, version string) error {
	t.Helper()
	var voters []string
	for _, name := range names {
		err := e.ask(t, e.clientURL(name), func(ctx context.Context, c *clientv3.Client) error {
			status, err := c.Status(ctx, c.Endpoints()[0])
			if err != nil {
				return err
			}
			if status.Version != version || status.IsLearner {
				return fmt.Errorf("%s runs %s, learner: %t", name, status.Version, status.IsLearner)
			}
			list, err := c.MemberList(ctx)
			if err != nil {
				return err
			}
			voters = nil
			for _, m := range list.Members {
				if !m.IsLearner {
					voters = append(voters, m.Name)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(voters)), slices.Sorted(slices.Values(names))) {
		return fmt.Errorf("etcd has the voters %q, but the status lists %q", voters, names)
	}
	return nil
}

// put writes a key through the client Service.
func (e *etcdTest) put(t *testing.T, key, value string) {
	t.Helper()
	eventually.True(t, 30*time.Second, "a write through the client Service succeeds", func() error {
		return e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Put(ctx, key, value)
			return err
		})
	})
}

// wantValue waits until a read through the client Service returns the value for the key.
func (e *etcdTest) wantValue(t *testing.T, key, value string) {
	t.Helper()
	eventually.True(t, 30*time.Second, fmt.Sprintf("%s is %s", key, value), func() error {
		return e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
			r, err := c.Get(ctx, key)
			if err == nil && (len(r.Kvs) != 1 || string(r.Kvs[0].Value) != value) {
				return fmt.Errorf("the value is %v", r.Kvs)
			}
			return err
		})
	})
}
