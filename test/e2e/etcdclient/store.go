// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Store is a client of one member of a cluster.
type Store interface {
	Get(ctx context.Context, key string) (Answer, error)
	Put(ctx context.Context, key, value string) (Answer, error)
	// Swap writes value if the current value of the key is expect ("" for none). Otherwise it only reads the key.
	Swap(ctx context.Context, key, expect, value string) (Answer, error)
	// Watch calls tell with the writes to keys that have the prefix, starting at revision from. It returns when ctx
	// ends, or when the member cannot continue the watch.
	Watch(ctx context.Context, prefix string, from int64, tell func(...Event)) error
	// Members returns the URLs that the cluster's members advertise to clients.
	Members(ctx context.Context) ([]string, error)
	Close() error
}

// Dial opens a connection to an address, which consists of host and port.
type Dial func(ctx context.Context, address string) (net.Conn, error)

// member is a Store that connects to a real member. It sends requests only to this member, because the client itself
// selects the next member and records which member responded.
type member struct{ *clientv3.Client }

// Open returns a Store for the member at a URL. It does not wait until the connection exists. dial may be nil.
func Open(url string, security *tls.Config, dial Dial) (Store, error) {
	options := []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
		// Reconnect soon to a member that was down. By default, gRPC may wait for minutes.
		Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
		MinConnectTimeout: 2 * time.Second,
	})}
	if dial != nil {
		options = append(options, grpc.WithContextDialer(dial))
	}
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{url}, TLS: security, DialOptions: options, Logger: zap.NewNop(),
		// Without keepalive, watches would hang if their member stops or is disconnected.
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
	})
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", url, err)
	}
	return &member{c}, nil
}

func (m *member) Get(ctx context.Context, key string) (Answer, error) {
	r, err := m.Client.Get(ctx, key)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Revision: r.Header.Revision, Cluster: r.Header.ClusterId}
	for _, kv := range r.Kvs {
		a.Value, a.ModRevision = string(kv.Value), kv.ModRevision
	}
	return a, nil
}

func (m *member) Put(ctx context.Context, key, value string) (Answer, error) {
	r, err := m.Client.Put(ctx, key, value)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Revision: r.Header.Revision, Cluster: r.Header.ClusterId}, nil
}

func (m *member) Swap(ctx context.Context, key, expect, value string) (Answer, error) {
	is := clientv3.Compare(clientv3.Value(key), "=", expect)
	if expect == "" {
		is = clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
	}
	r, err := m.Txn(ctx).If(is).Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Revision: r.Header.Revision, Cluster: r.Header.ClusterId, Swapped: r.Succeeded}
	if !r.Succeeded {
		for _, kv := range r.Responses[0].GetResponseRange().Kvs {
			a.Value, a.ModRevision = string(kv.Value), kv.ModRevision
		}
	}
	return a, nil
}

func (m *member) Watch(ctx context.Context, prefix string, from int64, tell func(...Event)) error {
	// WithRequireLeader makes a member without a leader end the watch. Otherwise the watch would stay open without
	// events.
	for r := range m.Client.Watch(clientv3.WithRequireLeader(ctx), prefix, clientv3.WithPrefix(), clientv3.WithRev(from)) {
		for _, e := range r.Events {
			if e.Type == mvccpb.PUT {
				tell(Event{e.Kv.ModRevision, string(e.Kv.Key), string(e.Kv.Value)})
			}
		}
		if err := r.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (m *member) Members(ctx context.Context) ([]string, error) {
	r, err := m.MemberList(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, one := range r.Members {
		if !one.IsLearner { // skip learners, because they serve no clients
			out = append(out, one.ClientURLs...)
		}
	}
	return out, nil
}

// unsent reports whether a failed request certainly did not reach the member. All other failed requests may have taken
// effect.
func unsent(err error) bool {
	return strings.Contains(err.Error(), "Error while dialing") || strings.Contains(err.Error(), "rpc not supported for learner")
}

// compacted reports whether a watch failed because its revision was compacted, so that no member can serve it.
func compacted(err error) bool { return errors.Is(err, rpctypes.ErrCompacted) }
