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
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

const (
	// readyTime is how long etcd may take for a read that its cluster agrees on.
	readyTime = 2 * time.Second
	// liveTime is how long it may take to say anything at all.
	liveTime = 5 * time.Second
	// startGrain is how soon after it a member that starts is seen to be ready; one that takes longer
	// than startTime is asked when the kubelet asks.
	startGrain, startTime = 100 * time.Millisecond, 30 * time.Second

	maxAnswer = 16 << 10
)

// health answers the kubelet. etcd is asked again each time.
type health struct {
	options  Options
	start    etcdstart.Start
	client   http.Client
	dialer   net.Dialer
	opened   atomic.Bool // etcd's listener was seen
	settled  atomic.Bool // the latch was closed
	wasReady atomic.Bool
	begun    time.Time
}

func newHealth(o Options, start etcdstart.Start) *health {
	h := &health{options: o, start: start, begun: time.Now()}
	h.settled.Store(start.Mode == etcdstart.Established)
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

// ready is the member when etcd is well. One that starts is waited for: a kubelet asks once in a second,
// and a first answer of no would have clients and the operator wait for the next question.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	said, err := h.part(ctx)
	for err != nil && h.starts() {
		time.Sleep(startGrain)
		again, now := h.part(ctx)
		if ctx.Err() != nil { // it reports nothing but the time
			break
		}
		said, err = again, now
	}
	if err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	h.wasReady.Store(true)
	fmt.Fprintln(w, said)
}

// starts reports whether the member may become ready any moment.
func (h *health) starts() bool { return !h.wasReady.Load() && time.Since(h.begun) < startTime }

// part gives what etcd says when it is well. By then it is part of its cluster, and from then on it may
// not begin with nothing; a member that joins may not either once it has a log, as it gets a vote
// before it is well.
func (h *health) part(ctx context.Context) (string, error) {
	said, err := h.well(ctx)
	if err == nil || h.joins() {
		err = errors.Join(err, h.settle())
	}
	return said, err
}

// joins reports whether a member that joins has begun to.
func (h *health) joins() bool {
	if h.start.Mode != etcdstart.Join || h.settled.Load() {
		return false
	}
	log, err := hasLog(h.options.DataDir)
	return log && err == nil
}

// settle closes the latch, once.
func (h *health) settle() error {
	if h.settled.Load() {
		return nil
	}
	if err := latch(h.options.Latch).close(); err != nil {
		return err
	}
	h.settled.Store(true)
	return nil
}

// wellPath leaves an alarm out that has etcd refuse writes only: clients are to read on, and to delete.
const wellPath = "/health?exclude=NOSPACE"

// well gives what etcd says when it is, and else an error.
func (h *health) well(ctx context.Context) (string, error) {
	switch {
	case h.options.Metrics == "":
		return "ok: takes connections", h.connect(ctx)
	case h.options.ByLeader:
		return "ok: has a leader", h.led(ctx)
	}
	answer, err := h.ask(ctx, wellPath)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("etcd says %s: %s", answer.Status, strings.TrimSpace(string(body)))
	}
	return string(body), err
}

// hasLeader is the line among etcd's metrics that says so.
const hasLeader = "etcd_server_has_leader 1"

// led reports whether etcd has a leader. Before 3.5 its /health writes a v2 request (QGET) to the
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
