// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
)

// recorder records the status code of a response, and flushes a long response part by part.
type recorder struct {
	http.ResponseWriter
	code int
	left int64 // remaining bytes of the announced length
}

func (r *recorder) WriteHeader(code int) {
	r.code = code // earlier codes are 1xx
	r.left, _ = strconv.ParseInt(r.Header().Get("Content-Length"), 10, 64)
	r.ResponseWriter.WriteHeader(code)
}

// Write flushes all parts but the last. ReverseProxy flushes responses without a length by itself. Its FlushInterval
// would also flush every short response twice.
func (r *recorder) Write(part []byte) (int, error) {
	n, err := r.ResponseWriter.Write(part)
	if r.left -= int64(n); r.left > 0 && err == nil {
		err = http.NewResponseController(r.ResponseWriter).Flush()
	}
	return n, err
}

// Hijack starts a websocket.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.code = http.StatusSwitchingProtocols
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

// Unwrap gives http.ResponseController access to the other methods.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
