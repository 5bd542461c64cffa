// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// readyTime is how long etcd may take for a read that its cluster agrees on.
	readyTime = 2 * time.Second
	// liveTime is how long it may take to say anything at all.
	liveTime = 5 * time.Second

	maxAnswer = 16 << 10
)

// health answers the kubelet. etcd is asked anew each time.
type health struct {
	options Options
	id      string
	client  http.Client
	dialer  net.Dialer
	opened  atomic.Bool // etcd's listener was seen
}

func newHealth(o Options, id string) *health {
	h := &health{options: o, id: id}
	// Neither a proxy nor a connection from before: the question is whether this process answers now.
	h.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: h.dialer.DialContext}
	return h
}

func serve(listener net.Listener, h *health, log *slog.Logger) {
	server := &http.Server{Handler: h.handler(), ReadHeaderTimeout: liveTime, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	if err := server.Serve(listener); !errors.Is(err, net.ErrClosed) {
		log.Error("No probe is answered any more", "error", err.Error())
	}
}

func (h *health) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", h.ready)
	mux.HandleFunc("GET /livez", h.live)
	return mux
}

// ready lets clients come to a member only when it counts: before it is established it can
// still turn out to be one that never was.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	err := h.established()
	switch {
	case err != nil:
	case h.options.Metrics == "":
		if err = h.connect(ctx); err == nil {
			fmt.Fprintln(w, "ok: takes connections")
		}
	case h.options.ByLeader:
		if err = h.led(ctx); err == nil {
			fmt.Fprintln(w, "ok: has a leader")
		}
	default:
		err = h.pass(ctx, w)
	}
	if err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
	}
}

// established reads the file each time: the kubelet changes it while etcd runs.
func (h *health) established() error {
	start, err := readStart(h.options.Start)
	switch {
	case err != nil:
		return err
	case start != Start{Established, h.id}:
		return fmt.Errorf("the operator says %q, not yet %q", start, Start{Established, h.id})
	}
	return nil
}

// pass answers what etcd answers.
func (h *health) pass(ctx context.Context, w http.ResponseWriter) error {
	answer, err := h.ask(ctx, "/health")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(body) // if the kubelet has gone, nobody is to be told
	return nil
}

// hasLeader is the line among etcd's metrics that says so.
const hasLeader = "etcd_server_has_leader 1"

// led tells whether etcd has a leader. Before 3.5 its /health writes a v2 request (QGET) to the
// log each time that it is asked on the metrics listener, and etcd 3.6 does not start on a log
// with such a request in it ("detected disallowed v2 WAL").
func (h *health) led(ctx context.Context) error {
	answer, err := h.ask(ctx, "/metrics")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if lines.Text() == hasLeader {
			return nil
		}
	}
	return errors.New("etcd has no leader")
}

// live fails only for a process that is stopped or hangs. A member without a quorum is not to
// be killed for that. Any answer does, and the path is one that no version of etcd has
// something at: /health, even a serializable one, reads the store, and that waits while it is
// defragmented.
func (h *health) live(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), liveTime)
	defer cancel()
	err := h.answers(ctx)
	switch {
	case err == nil:
		fmt.Fprintln(w, "ok")
	case errors.Is(err, syscall.ECONNREFUSED) && !h.opened.Load():
		// It reads its log, or waits for other members, which may take for ever.
		fmt.Fprintln(w, "ok: etcd has not opened its listener yet")
	default:
		h.opened.Store(true) // who takes a connection and then says nothing has a listener too
		http.Error(w, "etcd does not answer: "+err.Error(), http.StatusServiceUnavailable)
	}
}

func (h *health) answers(ctx context.Context) error {
	if h.options.Metrics == "" {
		return h.connect(ctx)
	}
	answer, err := h.ask(ctx, "/opcrew-alive")
	if err == nil {
		answer.Body.Close()
	}
	return err
}

func (h *health) ask(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.options.Metrics+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := h.client.Do(request)
	if err == nil {
		h.opened.Store(true)
	}
	return answer, err
}

func (h *health) connect(ctx context.Context) error {
	connection, err := h.dialer.DialContext(ctx, "tcp", h.options.Client)
	if err != nil {
		return err
	}
	h.opened.Store(true)
	return connection.Close()
}
