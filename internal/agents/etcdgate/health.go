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
	// readyTime is the time limit of a readiness probe, for which etcd performs a linearizable read.
	readyTime = 2 * time.Second
	// liveTime is the time limit of a liveness probe, which accepts any response of etcd.
	liveTime = 5 * time.Second
	// startGrain is the interval at which a readiness probe queries a member that is starting. Once startTime has
	// passed, each probe queries the member only once.
	startGrain, startTime = 100 * time.Millisecond, 30 * time.Second

	maxAnswer = 16 << 10
)

// health serves the kubelet's probes. It queries etcd for each probe.
type health struct {
	options  Options
	start    etcdstart.Start
	client   http.Client
	dialer   net.Dialer
	opened   atomic.Bool // whether the listener of etcd has responded
	settled  atomic.Bool // whether a file (the latch) records that this member was part of its cluster
	wasReady atomic.Bool
	begun    time.Time
}

func newHealth(o Options, start etcdstart.Start) *health {
	h := &health{options: o, start: start, begun: time.Now()}
	h.settled.Store(start.Mode == etcdstart.Established)
	// The client uses no proxy and no existing connection, because a probe must show that this etcd process responds
	// now.
	h.client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: h.dialer.DialContext}
	return h
}

func serve(listener net.Listener, h *health, log *slog.Logger) {
	server := &http.Server{Handler: h.handler(), ReadHeaderTimeout: liveTime, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	if err := server.Serve(listener); !errors.Is(err, net.ErrClosed) {
		log.Error("The server for probes failed", "error", err.Error())
	}
}

func (h *health) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", h.ready)
	mux.HandleFunc("GET /livez", h.live)
	return mux
}

// ready serves the readiness probe. It succeeds if etcd is healthy. If the member is still starting, ready queries etcd
// several times before it fails, because the kubelet would probe again only after a second.
func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	said, err := h.status(ctx)
	for err != nil && h.starting() {
		time.Sleep(startGrain)
		again, now := h.status(ctx)
		if ctx.Err() != nil { // the error would only report that ctx has ended
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

// starting reports whether the member is still starting and may soon be ready.
func (h *health) starting() bool { return !h.wasReady.Load() && time.Since(h.begun) < startTime }

// status returns the response of a healthy etcd. Once etcd is healthy, the member is part of its cluster, and status
// records this on disk, because such a member must never start without data. For a joining member, status records it as
// soon as the member has a log: it may get its vote before it is healthy.
func (h *health) status(ctx context.Context) (string, error) {
	said, err := h.healthy(ctx)
	if err == nil || h.joiningWithLog() {
		err = errors.Join(err, h.settle())
	}
	return said, err
}

// joiningWithLog reports whether the member is joining its cluster and already has a log.
func (h *health) joiningWithLog() bool {
	if h.start.Mode != etcdstart.Join || h.settled.Load() {
		return false
	}
	log, err := hasLog(h.options.DataDir)
	return log && err == nil
}

// settle closes the latch once: it records on disk that the member was part of its cluster.
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

// healthPath is the path of etcd's health check. It ignores the NOSPACE alarm, which only blocks writes, because
// clients may still read and delete.
const healthPath = "/health?exclude=NOSPACE"

// healthy returns the response of a healthy etcd, or an error.
func (h *health) healthy(ctx context.Context) (string, error) {
	switch {
	case h.options.Metrics == "":
		return "ok: etcd accepts connections", h.connect(ctx)
	case h.options.ByLeader:
		return "ok: etcd has a leader", h.leader(ctx)
	}
	answer, err := h.ask(ctx, healthPath)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("etcd responds with %s: %s", answer.Status, strings.TrimSpace(string(body)))
	}
	return string(body), err
}

// hasLeader is the line in etcd's metrics that a member with a leader reports.
const hasLeader = "etcd_server_has_leader 1"

// leader returns an error if etcd has no leader. It does not use /health, because before etcd 3.5 that writes a v2
// request (QGET) to the log, and etcd 3.6 does not start with such a log ("detected disallowed v2 WAL").
func (h *health) leader(ctx context.Context) error {
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

// live serves the liveness probe. It fails only if the etcd process is stopped or hangs, because a member without a
// quorum must not be killed. Any response counts, even status 404. It does not use /health, which would wait during a
// defragmentation.
func (h *health) live(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), liveTime)
	defer cancel()
	err := h.answers(ctx)
	switch {
	case err == nil:
		fmt.Fprintln(w, "ok")
	case errors.Is(err, syscall.ECONNREFUSED) && !h.opened.Load():
		// etcd is reading its log or waiting for other members, which may take any time.
		fmt.Fprintln(w, "ok: etcd has not opened its listener yet")
	default:
		h.opened.Store(true) // a process that accepts a connection and then hangs has opened its listener, too
		http.Error(w, "etcd does not respond: "+err.Error(), http.StatusServiceUnavailable)
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
