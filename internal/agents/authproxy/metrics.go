// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// metrics counts requests and reloads. It does not use the Prometheus client library, which would make the binary a
// third larger.
type metrics struct {
	classes        [6]atomic.Uint64 // indexed by the first digit of the status code
	inFlight       atomic.Int64
	failures       map[string]*atomic.Uint64
	cacheHits      atomic.Uint64
	reloads        atomic.Uint64
	failedReloads  atomic.Uint64
	upstreamErrors atomic.Uint64
}

func newMetrics() *metrics {
	m := &metrics{failures: map[string]*atomic.Uint64{}}
	for _, r := range refusals() {
		m.failures[r.reason] = new(atomic.Uint64)
	}
	return m
}

func (m *metrics) refused(r *refusal) { m.failures[r.reason].Add(1) }

// write writes all metrics in the Prometheus text format.
func (m *metrics) write(w io.Writer, loaded int) {
	const requests, failures = "requests_total", "auth_failures_total"
	describe(w, requests, "counter", "Number of requests by class of the status code; 1xx are websockets.")
	for digit := 1; digit < len(m.classes); digit++ {
		fmt.Fprintf(w, "%s%s{code=\"%dxx\"} %d\n", prefix, requests, digit, m.classes[digit].Load())
	}
	describe(w, failures, "counter", "Number of requests that the proxy refused, by reason.")
	for _, r := range refusals() {
		fmt.Fprintf(w, "%s%s{reason=%q} %d\n", prefix, failures, r.reason, m.failures[r.reason].Load())
	}
	single(w, "in_flight_requests", "gauge", "Number of requests in flight, including websockets.", m.inFlight.Load())
	single(w, "cache_hits_total", "counter", "Number of requests whose password the proxy had verified before.", m.cacheHits.Load())
	single(w, "reloads_total", "counter", "Number of reloads of credentials that took effect.", m.reloads.Load())
	single(w, "reload_failures_total", "counter", "Number of reloads of credentials that failed, so that the previous credentials stayed in use.", m.failedReloads.Load())
	single(w, "upstream_errors_total", "counter", "Number of requests to which the application did not respond.", m.upstreamErrors.Load())
	single(w, "credentials", "gauge", "Number of htpasswd lines (a user and a password hash) in use.", loaded)
}

const prefix = "opcrew_auth_proxy_"

func describe(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, name, help, prefix, name, kind)
}

func single(w io.Writer, name, kind, help string, value any) {
	describe(w, name, kind, help)
	fmt.Fprintf(w, "%s%s %d\n", prefix, name, value)
}

// counted returns a handler that calls next and counts its responses.
func (m *metrics) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &recorder{ResponseWriter: w, code: http.StatusOK}
		m.inFlight.Add(1)
		// This is deferred because next may abort a response with a panic.
		defer func() {
			m.inFlight.Add(-1)
			m.classes[min(answer.code/100, 5)].Add(1)
		}()
		next.ServeHTTP(answer, r)
	})
}
