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
	// upstreamIdle is less than the 5 s after which many servers close an idle connection. If the server closes it first,
	// a request may fail.
	upstreamIdle = 4 * time.Second
	idlePerHost  = 512
)

// newTransport returns a transport to the application, which may take any time to answer.
func newTransport(overH2C bool) http.RoundTripper {
	http1 := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConnsPerHost:   idlePerHost,
		IdleConnTimeout:       upstreamIdle,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // the client and the application agree on compression
	}
	if !overH2C {
		return http1
	}
	h2c := http1.Clone()
	h2c.Protocols = new(http.Protocols)
	h2c.Protocols.SetUnencryptedHTTP2(true)
	return &either{h2c: h2c, http1: http1}
}

// either sends upgrades over HTTP/1, because HTTP/2 has none.
type either struct{ h2c, http1 http.RoundTripper }

func (e *either) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Upgrade") != "" {
		return e.http1.RoundTrip(r)
	}
	return e.h2c.RoundTrip(r)
}

const bufferBytes = 32 << 10

// buffers holds reusable buffers for copying bodies.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[bufferBytes]byte); ok {
		return buffer[:]
	}
	return make([]byte, bufferBytes)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferBytes]byte)(buffer)) }
