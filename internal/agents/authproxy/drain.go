// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"net/http"
	"sync"
)

// leave shuts down without losing a request: it reports not ready, serves until clients know that, waits for requests
// in flight, and aborts those that do not end in time.
func (p *Proxy) leave(cut context.CancelFunc) {
	p.log.Info("Shutting down", "drain", p.options.Drain.String())
	p.health.draining.Store(true)
	<-p.clock.After(p.options.Drain)
	p.shutdown()
	cut()
	p.close()
}

// leaving asks clients to reconnect to another pod. Closing their idle connections instead would fail requests that are
// just being sent.
func (p *Proxy) leaving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The response to an upgrade has its own Connection header.
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
				p.log.Warn("Requests cut", "address", s.listener.Addr().String(), "error", err.Error())
				_ = s.Close() // its time is over
			}
		})
	}
	ending.Wait()
}
