// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	goredis "github.com/redis/go-redis/v9"
)

// errFull is what becomes of a connection to a process with no room for another client: it says so before anybody has asked,
// and closes the connection, so that its words are lost as often as not.
var errFull = errors.New("it closes connections unheard, as a server does with the max number of clients reached")

// unheard is a connection that reports whether it is closed before it was ever answered.
type unheard struct {
	*net.TCPConn
	answered bool
}

func (c *unheard) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n > 0 && !c.answered && bytes.HasPrefix(p[:n], []byte("-ERR max number of clients")) {
		return 0, errFull
	}
	c.answered = c.answered || n > 0
	return n, c.explain(err)
}

func (c *unheard) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
	return n, c.explain(err)
}

func (c *unheard) explain(err error) error {
	closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	if closed && !c.answered {
		return errFull
	}
	return err
}

// explaining has the connections of a client be such ones.
func explaining(options *goredis.Options) *goredis.Options {
	dial := goredis.NewDialer(options)
	options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
			return &unheard{TCPConn: tcp}, nil
		}
		return conn, err
	}
	return options
}
