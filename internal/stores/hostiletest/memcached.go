// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest

import (
	"net"
	"strings"
)

// ServeMemcached starts one fake memcached server for each kind of hostile behaviour, and returns the addresses by
// kind.
func ServeMemcached() map[string]string {
	out := map[string]string{}
	for name, serve := range memcachedSorts() {
		out[name] = Serve(serve)
	}
	return out
}

func memcachedSorts() map[string]func(net.Conn) {
	block := strings.Repeat("x", 64<<10)
	value := "VALUE k 0 65536\r\n" + block + "\r\n"
	return map[string]func(net.Conn){
		"a value beyond all memory":   Endless("VALUE k 0 9223372036854775800\r\n", block),
		"a value of a gigabyte":       Endless("VALUE k 0 1073741824\r\n", block),
		"a value of a negative size":  Endless("VALUE k 0 -9223372036854775807\r\n", strings.Repeat("VALUE k 0 -1\r\n", 4000)),
		"a size that is no number":    Endless("VALUE k 0 1e999\r\n", strings.Repeat("VALUE k 0 0x7fffffff\r\n", 4000)),
		"a value longer than it says": Endless("VALUE k 0 1\r\n"+block, block),
		"values without end":          Endless(value, value),
		"statistics without end":      Endless("STAT pid 1\r\n", strings.Repeat("STAT a 1\r\n", 6000)),
		"a key without end":           Endless("VALUE ", block),
		"an endless error":            Endless("SERVER_ERROR ", block),
		"a wrong version":             Endless("VERSION 18446744073709551616.-1\r\n", strings.Repeat("VERSION \x00\r\n", 4000)),
		"no protocol":                 Endless("HTTP/1.1 200 OK\r\n", block),
		"one byte a second":           Slow(value),
		"no answer":                   Hang,
		"a closed connection":         Close,
	}
}
