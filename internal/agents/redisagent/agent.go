// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/netutil"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/agents/shared/limiter"
)

const (
	// connections is how many connections a port accepts concurrently, for all clients together. Further connections
	// wait in the kernel.
	connections = 100
	headerTime  = 5 * time.Second
	answerTime  = 10 * time.Second
	idleTime    = 30 * time.Second
	headerBytes = 16 << 10
)

// Run serves until ctx ends. Responses may then be cut off, which does no harm, because clients repeat their requests.
func Run(ctx context.Context, o Options, c clock.PassiveClock, log *slog.Logger) error {
	certs, err := newCertificates(o, c, log)
	if err != nil {
		return err
	}
	l := newLooker(o, c)
	pages := &guard{o.Secrets, limiter.New(c), log, &page{options: o, clock: c, looker: l, peers: newPeers(o.Metrics)}}
	listeners, err := listen(o.Probes, o.Metrics, o.Page)
	if err != nil {
		return err
	}
	listeners[2] = tls.NewListener(listeners[2], &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certs.get, NextProtos: []string{"http/1.1"}})
	failed := make(chan error, len(listeners))
	for i, handler := range []http.Handler{probes(l), scrapes(l), pages} {
		server := newServer(handler, log)
		defer func() { _ = server.Close() }()
		go func() { failed <- server.Serve(listeners[i]) }()
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		return nil
	}
}

func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       headerTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		// Errors of client connections are only logged at debug level, because clients could otherwise fill the disk.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func listen(ports ...int) ([]net.Listener, error) {
	var out []net.Listener
	for _, port := range ports {
		listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("bind a port: %w", err), closeAll(out))
		}
		out = append(out, netutil.LimitListener(listener, connections))
	}
	return out, nil
}

func closeAll(listeners []net.Listener) error {
	var all error
	for _, listener := range listeners {
		all = errors.Join(all, listener.Close())
	}
	return all
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func probes(l *looker) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		if err := l.look(r.Context()).ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	return mux
}

func scrapes(l *looker) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		l.look(r.Context()).writeMetrics(w)
	})
	return mux
}
