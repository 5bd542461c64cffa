// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

// health serves the probes of the kubelet and the metrics for Prometheus.
type health struct {
	draining atomic.Bool
	store    *store
	metrics  *metrics
}

func (h *health) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", h.ready)
	mux.HandleFunc("GET /metrics", h.scrape)
	return mux
}

// ready serves the readiness probe. It does not query the application, which has a probe of its own.
func (h *health) ready(w http.ResponseWriter, _ *http.Request) {
	set, problem := h.store.current.Load(), h.store.problem.Load()
	switch {
	case h.draining.Load():
		http.Error(w, "not ready: shutting down", http.StatusServiceUnavailable)
	case set == nil && problem != nil:
		http.Error(w, "not ready: no credentials: "+*problem, http.StatusServiceUnavailable)
	case set == nil:
		http.Error(w, "not ready: no credentials yet", http.StatusServiceUnavailable)
	case problem != nil:
		fmt.Fprintf(w, "ready: %d credential line(s) of %s are still in use, because the last reload failed: %s\n", set.count, set.from, *problem)
	default:
		fmt.Fprintf(w, "ready: %d credential line(s) of %s are in use\n", set.count, set.from)
	}
}

func (h *health) scrape(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	loaded := 0
	if set := h.store.current.Load(); set != nil {
		loaded = set.count
	}
	h.metrics.write(w, loaded)
}
