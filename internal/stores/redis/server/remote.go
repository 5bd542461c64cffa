// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/opcrew/opcrew/internal/stores/prober"
	"github.com/opcrew/opcrew/internal/stores/redis/bounded"
)

const (
	// connectTimeout limits one attempt to connect. throughTimeout is the limit when another dialer is used.
	connectTimeout = time.Second
	throughTimeout = 10 * time.Second
	// MostLanes is how many connections to one server a move of slots may use at the same time.
	MostLanes = 32
	// mostConnections limits the connections to one server. While a slot move uses MostLanes of them, the others are
	// for reads and steps.
	mostConnections = MostLanes + 8
	// mostIdle is how many unused connections to one server stay open for later calls.
	mostIdle = 4
)

// ContextDialer opens one connection, as (*net.Dialer).DialContext does.
type ContextDialer func(ctx context.Context, network, address string) (net.Conn, error)

// remote implements Store over the network, with a client for each server.
type remote struct {
	target  Target
	through ContextDialer // if nil, remote connects directly
	budget  *bounded.Budget

	mu      sync.Mutex
	closed  bool
	clients map[line]*goredis.Client
}

// line identifies a client of a server. Answers of different size classes use different connections.
type line struct {
	address string
	size    size
}

// quiet disables the log of the client library, because opcrew reports the library's errors itself (NodeStatus.Err).
var quiet = sync.OnceFunc(func() { goredis.SetLogger(silent{}) })

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Dial opens the store of a real cluster.
func Dial(target Target) (Store, error) { return DialThrough(nil)(target) }

// DialThrough returns a Dialer for real clusters that opens its connections with the dialer through. If through is nil,
// the Dialer connects directly.
func DialThrough(through ContextDialer) Dialer {
	budget := bounded.NewBudget(mostTogether)
	return func(target Target) (Store, error) {
		quiet()
		return &remote{target: target, through: through, budget: budget, clients: map[line]*goredis.Client{}}, nil
	}
}

func (r *remote) Credentials() Credentials { return r.target.Credentials }

func (r *remote) client(address string, of size) (*goredis.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("the connections to the cluster have been closed")
	}
	key := line{address, of}
	if r.clients[key] == nil {
		r.clients[key] = r.connect(address, of)
	}
	return r.clients[key], nil
}

// connect creates a client that does not retry. The operator reads the servers again after an error, and knows which
// steps may be repeated.
func (r *remote) connect(address string, of size) *goredis.Client {
	by := r.target.Credentials
	options := &goredis.Options{
		Addr: address, Username: by.User, Password: by.Password, TLSConfig: by.TLS,
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		MaxRetries:               -1, DialerRetries: 1, DialTimeout: connectTimeout,
		ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1,
		PoolSize: mostConnections, MaxIdleConns: mostIdle,
	}
	if r.through == nil {
		options.Dialer = explaining(goredis.NewDialer(options))
	} else {
		options.Dialer, options.DialTimeout = encrypting(r.through, by.TLS), throughTimeout
	}
	options.Dialer = r.limiting(options.Dialer, of)
	return goredis.NewClient(options)
}

// limiting returns a dialer whose connections limit the size of answers.
func (r *remote) limiting(dial ContextDialer, of size) ContextDialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bounded.Conn(conn, of.limits(), r.budget), nil
	}
}

// encrypting returns a dialer that adds TLS, because the client library does not do this for custom dialers.
func encrypting(through ContextDialer, security *tls.Config) ContextDialer {
	if security == nil {
		return through
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := through(ctx, network, address)
		if err != nil {
			return nil, err
		}
		config := security.Clone()
		if config.ServerName == "" {
			config.ServerName, _, _ = net.SplitHostPort(address)
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return secure, nil
	}
}

// Do sends commands in one round trip.
func (r *remote) Do(ctx context.Context, address string, commands ...Command) ([]any, error) {
	if err := r.target.own(address); err != nil {
		return nil, err
	}
	client, err := r.client(address, sizeOf(commands))
	if err != nil {
		return nil, err
	}
	var answers []any
	err = prober.Contained(func() (err error) {
		answers, err = exchange(ctx, client, address, commands)
		return err
	})
	return answers, err
}

func exchange(ctx context.Context, client *goredis.Client, address string, commands []Command) ([]any, error) {
	pipe := client.Pipeline()
	sent := make([]*goredis.Cmd, len(commands))
	for i, command := range commands {
		sent[i] = pipe.Do(ctx, command...)
	}
	_, failed := pipe.Exec(ctx)
	return collect(address, commands, sent, failed)
}

// collect returns the answers. Each command has its own error, unless the server refused the login (failed). In that
// case, no command was sent, and the commands have neither answers nor errors.
func collect(address string, commands []Command, sent []*goredis.Cmd, failed error) ([]any, error) {
	out := make([]any, len(sent))
	for i, cmd := range sent {
		answer, err := cmd.Result()
		if answer == nil && err == nil {
			err = failed
		}
		if err != nil && !errors.Is(err, goredis.Nil) {
			return out[:i], fmt.Errorf("%s: %s: %w", address, commands[i].name(), typed(err))
		}
		out[i] = answer
	}
	return out, nil
}

// Close closes all connections.
func (r *remote) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var errs []error
	for _, client := range r.clients {
		errs = append(errs, client.Close())
	}
	clear(r.clients)
	return errors.Join(errs...)
}
