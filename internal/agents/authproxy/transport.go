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
	// upstreamIdle is below the 5 s after which many servers close a connection: we
	// must be the one who does, or a request meets a connection that is being closed.
	upstreamIdle = 4 * time.Second
	idlePerHost  = 512
)

// newTransport connects to the application. There is no limit on how long it may take
// to answer: that is its own affair.
func newTransport(overH2C bool) http.RoundTripper {
	http1 := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConnsPerHost:   idlePerHost,
		IdleConnTimeout:       upstreamIdle,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // what the client accepts is between it and the application
	}
	if !overH2C {
		return http1
	}
	h2c := http1.Clone()
	h2c.Protocols = new(http.Protocols)
	h2c.Protocols.SetUnencryptedHTTP2(true)
	return &either{h2c: h2c, http1: http1}
}

// either sends upgrades by HTTP/1, the only one that has them.
type either struct{ h2c, http1 http.RoundTripper }

func (e *either) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Upgrade") != "" {
		return e.http1.RoundTrip(r)
	}
	return e.h2c.RoundTrip(r)
}

const bufferBytes = 32 << 10

// buffers are those that bodies are copied through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[bufferBytes]byte); ok {
		return buffer[:]
	}
	return make([]byte, bufferBytes)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferBytes]byte)(buffer)) }
