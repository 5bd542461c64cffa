// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"net/http"
	"sync"
)

// leave ends in the order that costs no request: tell the kubelet, go on until the
// last client has heard of it, wait for what is in flight, cut what never ends.
func (p *Proxy) leave(cut context.CancelFunc) {
	p.log.Info("Going away", "drain", p.options.Drain.String())
	p.health.draining.Store(true)
	<-p.clock.After(p.options.Drain)
	p.shutdown()
	cut()
	p.close()
}

// leaving asks clients to move on while we go away. Closing their idle connections
// would meet some of them as they send a request.
func (p *Proxy) leaving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An answer to an upgrade has a Connection header of its own.
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
				_ = s.Close() // it was asked nicely
			}
		})
	}
	ending.Wait()
}
