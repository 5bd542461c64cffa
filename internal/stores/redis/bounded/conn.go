// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bounded provides connections to Redis that check answers before a client library sees them. Libraries
// allocate as much memory as an answer announces, so two lines from a hostile server could crash the operator.
package bounded

import (
	"net"
	"sync"
	"syscall"
)

// conn checks all data that is read. Each write starts a new request, and resets the counts to which the limits apply.
type conn struct {
	net.Conn
	mu      sync.Mutex
	scanner scanner
	account account
	refused error
}

// Conn returns a connection whose answers stay within the limits and the budget. inner must deliver plain text, so with
// TLS it is the TLS connection.
func Conn(inner net.Conn, limits Limits, budget *Budget) net.Conn {
	c := &conn{Conn: inner, scanner: scanner{limits: limits}, account: account{budget: budget}}
	if raw, ok := inner.(syscall.Conn); ok {
		return &inspected{conn: c, raw: raw} // client libraries check idle connections through this interface
	}
	return c
}

type inspected struct {
	*conn
	raw syscall.Conn
}

func (c *inspected) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }

// Read closes the connection if an answer exceeds the limits, and then returns no data.
func (c *conn) Read(p []byte) (int, error) {
	if err := c.ended(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if refused := c.check(p[:n]); refused != nil {
		_ = c.Close() // after an invalid answer, the connection must not be used any more
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

// Write sends a request, and resets the counts to which the limits apply.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.scanner.begin()
	c.account.settle()
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// Close closes the connection and returns the account's bytes to the budget.
func (c *conn) Close() error {
	c.mu.Lock()
	c.account.settle()
	c.mu.Unlock()
	return c.Conn.Close()
}
