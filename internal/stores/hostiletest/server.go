// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostiletest provides fake servers of etcd, Redis, memcached and ssh that send wrong or excessive answers, and
// measures what these answers cost a client. Only tests use it.
package hostiletest

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// Serve handles connections until the process ends, and returns the address.
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
		panic(err) // only tests call this, and they cannot continue without a listener
	}
	return listener
}

// Hang reads requests and never answers.
func Hang(conn net.Conn) {
	p := make([]byte, 4<<10)
	for {
		if _, err := conn.Read(p); err != nil {
			return
		}
	}
}

// Close reads a request and closes the connection without an answer.
func Close(conn net.Conn) { _, _ = conn.Read(make([]byte, 4<<10)) }

// Endless answers each request with one text, followed by another text again and again.
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

// Slow sends a text at one byte per second.
func Slow(text string) func(net.Conn) {
	return func(conn net.Conn) {
		for i := range len(text) {
			if _, err := conn.Write([]byte{text[i]}); err != nil {
				return
			}
			time.Sleep(time.Second) // slowness is the purpose of this server
		}
	}
}

// Dials returns a dialer that counts in others the connections to any address except the expected one.
func Dials(others *atomic.Int64, expected string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != expected {
			others.Add(1)
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}
