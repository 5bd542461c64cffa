// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
)

// recorder records the status code of a response. It also flushes long responses while they are being written.
type recorder struct {
	http.ResponseWriter
	code int
	left int64 // bytes of the announced length that are still to be written
}

func (r *recorder) WriteHeader(code int) {
	r.code = code // only the last code counts: all earlier ones are 1xx
	r.left, _ = strconv.ParseInt(r.Header().Get("Content-Length"), 10, 64)
	r.ResponseWriter.WriteHeader(code)
}

// Write flushes every part of a response except the last. ReverseProxy already flushes responses without a length. Its
// FlushInterval option is no alternative, because it would flush every short response twice.
func (r *recorder) Write(part []byte) (int, error) {
	n, err := r.ResponseWriter.Write(part)
	if r.left -= int64(n); r.left > 0 && err == nil {
		err = http.NewResponseController(r.ResponseWriter).Flush()
	}
	return n, err
}

// Hijack takes over the connection for a websocket.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.code = http.StatusSwitchingProtocols
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

// Unwrap lets http.ResponseController use further methods of the original writer.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
