// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
)

// recorder remembers the status code of an answer and flushes the parts of a long one.
type recorder struct {
	http.ResponseWriter
	code int
	left int64 // bytes left of the announced length
}

func (r *recorder) WriteHeader(code int) {
	r.code = code // earlier codes are 1xx
	r.left, _ = strconv.ParseInt(r.Header().Get("Content-Length"), 10, 64)
	r.ResponseWriter.WriteHeader(code)
}

// Write flushes all but the last part. ReverseProxy flushes answers without a length; its
// FlushInterval would also flush every short answer twice.
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
