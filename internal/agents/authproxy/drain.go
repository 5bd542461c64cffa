// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"net/http"
	"sync"
)

// leave shuts down without losing requests. It makes the readiness probe fail, and serves requests until clients have
// stopped sending new ones. Then it waits for requests in flight, and aborts those that take too long.
func (p *Proxy) leave(cut context.CancelFunc) {
	p.log.Info("Shutting down", "drain", p.options.Drain.String())
	p.health.draining.Store(true)
	<-p.clock.After(p.options.Drain)
	p.shutdown()
	cut()
	p.close()
}

// leaving adds a header to responses that asks clients to close their connections. When clients reconnect, they reach
// another pod. If the proxy closed idle connections itself, requests that are being sent would fail.
func (p *Proxy) leaving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An upgrade response has a Connection header of its own.
		if p.health.draining.Load() && r.Header.Get("Upgrade") == "" {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

func (p *Proxy) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), p.options.Shutdown)
	defer cancel()
	var ending sync.WaitGroup
	for _, s := range p.routes {
		ending.Go(func() {
			if err := s.Shutdown(ctx); err != nil {
				p.log.Warn("Requests were aborted at the end of the shutdown time", "address", s.listener.Addr().String(), "error", err.Error())
				_ = s.Close() // requests in flight have exceeded their time limit
			}
		})
	}
	ending.Wait()
}
