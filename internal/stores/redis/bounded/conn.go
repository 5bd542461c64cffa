// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bounded has connections to Redis whose answers are checked before a client library sees them. A library allocates
// what an answer announces: two lines of a hostile server would end the process.
package bounded

import (
	"net"
	"sync"
	"syscall"
)

// conn checks what is read. A write begins the answers to it.
type conn struct {
	net.Conn
	mu      sync.Mutex
	scanner scanner
	account account
	refused error
}

// Conn returns a connection whose answers are within the limits and the budget. It is for the plain text: inside of TLS.
func Conn(inner net.Conn, limits Limits, budget *Budget) net.Conn {
	c := &conn{Conn: inner, scanner: scanner{limits: limits}, account: account{budget: budget}}
	if raw, ok := inner.(syscall.Conn); ok {
		return &inspected{conn: c, raw: raw} // libraries look at idle connections that can be inspected
	}
	return c
}

type inspected struct {
	*conn
	raw syscall.Conn
}

func (c *inspected) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }

// Read passes on nothing of a chunk with an answer beyond the limits, and closes the connection.
func (c *conn) Read(p []byte) (int, error) {
	if err := c.ended(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if refused := c.check(p[:n]); refused != nil {
		_ = c.Close() // nothing is read or written any more
		return 0, refused
	}
	return n, err
}

func (c *conn) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

func (c *conn) check(chunk []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused != nil {
		return c.refused
	}
	if c.refused = c.scanner.scan(chunk); c.refused == nil {
		c.refused = c.account.cover(c.scanner.bytes + perElement*c.scanner.elements)
	}
	if c.refused != nil || c.scanner.between() {
		c.account.settle()
	}
	return c.refused
}

// Write begins other answers.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.scanner.begin()
	c.account.settle()
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// Close gives back what the answers have taken.
func (c *conn) Close() error {
	c.mu.Lock()
	c.account.settle()
	c.mu.Unlock()
	return c.Conn.Close()
}
