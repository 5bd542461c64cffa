// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostiletest has servers that speak enough of Redis and etcd to lie to a client, and a measure of what that costs the
// client. Only tests use it.
package hostiletest

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// Serve serves connections for as long as the process runs, and returns the address.
func Serve(serve func(net.Conn)) string {
	listener := listen()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // of a test's helper: the test cannot go on
	}
	return listener
}

// Hang reads what is sent and answers nothing.
func Hang(conn net.Conn) {
	p := make([]byte, 4<<10)
	for {
		if _, err := conn.Read(p); err != nil {
			return
		}
	}
}

// Close reads a request and closes the connection.
func Close(conn net.Conn) { _, _ = conn.Read(make([]byte, 4<<10)) }

// Endless answers each request with a text and then with another one for ever.
func Endless(first, more string) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 4<<10)); err != nil {
			return
		}
		for text := first; ; text = more {
			if _, err := conn.Write([]byte(text)); err != nil {
				return
			}
		}
	}
}

// Slow sends one byte of a text a second.
func Slow(text string) func(net.Conn) {
	return func(conn net.Conn) {
		for i := range len(text) {
			if _, err := conn.Write([]byte{text[i]}); err != nil {
				return
			}
			time.Sleep(time.Second) // that is what it is to do
		}
	}
}

// Dials returns a dialer that counts connections to any other address than one.
func Dials(others *atomic.Int64, expected string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != expected {
			others.Add(1)
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}
