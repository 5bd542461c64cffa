// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
)

// errFull is the error of a connection that a server closes before its first answer. A server that has no room for
// another client does this. It sends an error first, but that error is often lost.
var errFull = errors.New("the server closes connections without an answer, as servers do with the max number of clients reached")

// unanswered is a connection that detects that the server closed it before the first answer.
type unanswered struct {
	*net.TCPConn
	answered bool
}

func (c *unanswered) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n > 0 && !c.answered && bytes.HasPrefix(p[:n], []byte("-ERR max number of clients")) {
		return 0, errFull
	}
	c.answered = c.answered || n > 0
	return n, c.explain(err)
}

func (c *unanswered) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
	return n, c.explain(err)
}

func (c *unanswered) explain(err error) error {
	closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	if closed && !c.answered {
		return errFull
	}
	return err
}

// explaining returns a dialer for connections that return errFull if the server closes them before its first answer.
func explaining(dial ContextDialer) ContextDialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
			return &unanswered{TCPConn: tcp}, nil
		}
		return conn, err
	}
}
