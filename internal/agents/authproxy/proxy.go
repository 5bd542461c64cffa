// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"

	"k8s.io/utils/clock"
)

// Proxy is the auth proxy of a pod. It has one server for each route, and one for probes and metrics.
type Proxy struct {
	options Options
	clock   clock.WithTicker
	log     *slog.Logger
	store   *store
	health  *health
	metrics *metrics

	routes []*server
	probes *server
}

// server is an http.Server with its listener.
type server struct {
	*http.Server
	listener net.Listener
}

// New reads the credentials and binds the ports. Missing credentials are not an error, because a user may add them
// later.
func New(o Options, c clock.WithTicker, log *slog.Logger) (*Proxy, error) {
	m := newMetrics()
	s := &store{directories: o.Credentials, log: log, metrics: m}
	p := &Proxy{options: o, clock: c, log: log, metrics: m, store: s, health: &health{store: s, metrics: m}}
	s.refresh()
	if err := p.bind(newChecker(c, m)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *Proxy) bind(check *checker) error {
	for _, route := range p.options.Routes {
		guarded := &gate{
			realm: p.options.Realm, exempt: p.options.Exempt, store: p.store, checker: check, metrics: p.metrics,
			next: newForwarder(p.options, route, p.metrics, p.log),
		}
		s, err := p.listen(route.Listen, p.metrics.counted(p.leaving(guarded)))
		if err != nil {
			return err
		}
		p.routes = append(p.routes, s)
	}
	var err error
	p.probes, err = p.listen(p.options.Health, p.health.handler())
	return err
}

func (p *Proxy) listen(port int, handler http.Handler) (*server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(p.options.Address, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("bind a port: %w", err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	// There is no time limit for a whole request or response, because uploads, streams and websockets may take long.
	return &server{listener: listener, Server: &http.Server{
		Handler:                      handler,
		Protocols:                    protocols,
		ReadHeaderTimeout:            p.options.ReadHeaderTimeout,
		IdleTimeout:                  p.options.IdleTimeout,
		MaxHeaderBytes:               p.options.MaxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
	}}, nil
}

// Run serves until ctx ends, and then until all requests are completed.
func (p *Proxy) Run(ctx context.Context) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var watching sync.WaitGroup
	watching.Go(func() { p.store.watch(base, p.clock) })
	failed := p.serve(base)
	var err error
	select {
	case err = <-failed:
		p.close()
	case <-ctx.Done():
		p.leave(cut)
	}
	cut()
	watching.Wait()
	return err
}

// serve starts all servers. The returned channel delivers their errors.
func (p *Proxy) serve(base context.Context) <-chan error {
	failed := make(chan error, len(p.routes)+1)
	for _, s := range p.servers() {
		s.BaseContext = func(net.Listener) context.Context { return base }
		go func() {
			if err := s.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", s.listener.Addr(), err)
			}
		}()
	}
	return failed
}

func (p *Proxy) servers() []*server {
	all := append([]*server{}, p.routes...)
	if p.probes != nil {
		all = append(all, p.probes)
	}
	return all
}

func (p *Proxy) close() {
	for _, s := range p.servers() {
		_ = s.Close() // an error does not matter, because there is nothing left to serve
		_ = s.listener.Close()
	}
}
