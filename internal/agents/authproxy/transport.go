// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	dialTimeout = 2 * time.Second
	// upstreamIdle is how long idle connections to the application are kept. Many servers close them after 5 s. If the
	// server closes a connection first, a request on it may fail.
	upstreamIdle = 4 * time.Second
	idlePerHost  = 512
)

// newTransport returns a transport to the application. It has no timeout for responses.
func newTransport(overH2C bool) http.RoundTripper {
	http1 := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConnsPerHost:   idlePerHost,
		IdleConnTimeout:       upstreamIdle,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // only the client and the application decide about compression
	}
	if !overH2C {
		return http1
	}
	h2c := http1.Clone()
	h2c.Protocols = new(http.Protocols)
	h2c.Protocols.SetUnencryptedHTTP2(true)
	return &either{h2c: h2c, http1: http1}
}

// either sends upgrade requests over HTTP/1, because HTTP/2 does not support upgrades. It sends all other requests over
// HTTP/2.
type either struct{ h2c, http1 http.RoundTripper }

func (e *either) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Upgrade") != "" {
		return e.http1.RoundTrip(r)
	}
	return e.h2c.RoundTrip(r)
}

const bufferBytes = 32 << 10

// buffers is a pool of buffers for copying bodies.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[bufferBytes]byte); ok {
		return buffer[:]
	}
	return make([]byte, bufferBytes)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferBytes]byte)(buffer)) }
