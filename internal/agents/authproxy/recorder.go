// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
)

// recorder remembers the code of an answer, and sends the parts of a long one on as
// they come.
type recorder struct {
	http.ResponseWriter
	code int
	left int64 // of the length that was announced
}

func (r *recorder) WriteHeader(code int) {
	r.code = code // the last one counts: those before are 1xx
	r.left, _ = strconv.ParseInt(r.Header().Get("Content-Length"), 10, 64)
	r.ResponseWriter.WriteHeader(code)
}

// Write flushes while more is to come. Where no length was announced, ReverseProxy
// does; its FlushInterval would do it here too, but flush every short answer twice.
func (r *recorder) Write(part []byte) (int, error) {
	n, err := r.ResponseWriter.Write(part)
	if r.left -= int64(n); r.left > 0 && err == nil {
		err = http.NewResponseController(r.ResponseWriter).Flush()
	}
	return n, err
}

// Hijack is how a websocket begins.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.code = http.StatusSwitchingProtocols
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

// Unwrap lets http.ResponseController through to what else there is.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
