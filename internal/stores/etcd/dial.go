// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/opcrew/opcrew/internal/stores/prober"
)

const (
	// connectTimeout is the time limit of one attempt to connect. throughTimeout applies instead if another dialer,
	// such as a port-forward, opens the connection. Calls wait until the attempt ends.
	connectTimeout = time.Second
	throughTimeout = 10 * time.Second
	// mostBackoff is the longest time between two attempts to connect. It is short, as a pod may start at any time; the
	// default is two minutes.
	mostBackoff = 250 * time.Millisecond
	// keepAlive is the interval of keepalive probes, twice the minimum that servers accept by default. If a probe is
	// not acknowledged within keepAliveTimeout, the connection is closed: the pod has moved, or its node is gone.
	keepAlive        = 10 * time.Second
	keepAliveTimeout = 3 * time.Second
)

// ContextDialer opens one connection, as (*net.Dialer).DialContext does.
type ContextDialer func(ctx context.Context, network, address string) (net.Conn, error)

// remote is a Store that accesses a real cluster, with one connection to each member.
type remote struct {
	target  Target
	through ContextDialer // nil: dial over the network of this process
	web     *http.Client
	// open is a context that ends when the store is closed.
	open  context.Context
	close context.CancelFunc

	mu    sync.Mutex
	conns map[string]*conn
	// voter is the endpoint of the member that all steps are sent to: the leader if known.
	voter string
}

// Dial opens the store of a real cluster.
func Dial(target Target) (Store, error) { return DialThrough(nil)(target) }

// DialThrough returns a Dialer that opens its connections with another dialer, such as a port-forward; nil stands for
// the network of this process. TLS verifies the host names of the endpoints in both cases.
func DialThrough(through ContextDialer) Dialer {
	return func(target Target) (Store, error) { return open(target, through) }
}

func open(target Target, through ContextDialer) (Store, error) {
	if len(target.Endpoints) == 0 {
		return nil, errors.New("no endpoint of the cluster is known")
	}
	open, end := context.WithCancel(context.Background())
	return &remote{target: target, through: through, web: web(target, through), open: open, close: end, conns: map[string]*conn{}}, nil
}

// conn is the connection to one member.
type conn struct {
	*clientv3.Client
	endpoint    string
	maintenance clientv3.Maintenance

	mu      sync.Mutex
	version string // "" until known
}

// before reports whether the member is older than the given minor version of etcd 3, or its version is unknown.
func (c *conn) before(minor uint) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, err := version.ParseSemantic(c.version)
	return err != nil || v.Major() == 3 && v.Minor() < minor
}

func (c *conn) learn(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
}

func (r *remote) conn(endpoint string) (*conn, error) {
	if err := r.target.own(endpoint); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open.Err() != nil {
		return nil, errors.New("the connections have been closed")
	}
	if c, ok := r.conns[endpoint]; ok {
		return c, nil
	}
	c, err := connect(endpoint, r.target, r.through)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", endpoint, err)
	}
	r.conns[endpoint] = c
	return c, nil
}

func connect(endpoint string, target Target, through ContextDialer) (*conn, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            []string{endpoint},
		TLS:                  target.TLS,
		Logger:               zap.NewNop(), // errors are reported in the View
		MaxUnaryRetries:      1,            // the next read of the cluster tries again
		DialKeepAliveTime:    keepAlive,
		DialKeepAliveTimeout: keepAliveTimeout,
		DialOptions:          dialOptions(target, through),
		MaxCallRecvMsgSize:   mostAnswer,
	})
	if err != nil {
		return nil, err
	}
	// The Status call of clientv3 opens a new connection for every call; this client reuses one.
	asked := etcdserverpb.NewMaintenanceClient(client.ActiveConnection())
	return &conn{Client: client, endpoint: endpoint, maintenance: clientv3.NewMaintenanceFromMaintenanceClient(asked, client)}, nil
}

func dialOptions(target Target, through ContextDialer) []grpc.DialOption {
	dial := target.dialer(through)
	params := grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: mostBackoff},
		MinConnectTimeout: timeoutOf(through),
	}
	return []grpc.DialOption{
		grpc.WithConnectParams(params), grpc.WithChainUnaryInterceptor(failFast),
		grpc.WithMaxHeaderListSize(mostHeaders), grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, "tcp", address) }),
	}
}

func timeoutOf(through ContextDialer) time.Duration {
	if through == nil {
		return connectTimeout
	}
	return throughTimeout
}

// failFast makes a call to an unreachable member fail at once with the reason. By default, the client waits for its
// timeout and loses the reason. Contained turns a panic of the client into an error, because a panic would end the
// process.
func failFast(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return prober.Contained(func() error {
		return invoke(ctx, method, req, reply, cc, append(slices.Clip(opts), grpc.WaitForReady(false))...)
	})
}

// Close closes the connections to all members.
func (r *remote) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close()
	r.web.CloseIdleConnections()
	var errs []error
	for _, c := range r.conns {
		errs = append(errs, c.Close())
	}
	clear(r.conns)
	return errors.Join(errs...)
}
