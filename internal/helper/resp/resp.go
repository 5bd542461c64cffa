// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package resp speaks the little of the protocol of Redis (RESP2) that the helper needs: one
// command at a time, whose answer is a line or a text. A whole client library would make the
// binary twice as big.
package resp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const (
	// maxText is more than any answer here has: CLUSTER NODES of a thousand nodes has 200 KiB.
	maxText = 4 << 20
	maxLine = 64 << 10
)

// Error is an answer by which the server refuses, such as "LOADING Redis is loading the
// dataset in memory". The connection can be used further.
type Error string

func (e Error) Error() string { return string(e) }

// Code is the first word of the answer.
func (e Error) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// Conn is a connection to a server, for one user at a time. After an error that is not an
// Error it is of no use any more.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects.
func Dial(ctx context.Context, address string) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newConn(conn), nil
}

func newConn(conn net.Conn) *Conn { return &Conn{conn, bufio.NewReaderSize(conn, maxLine)} }

// Close ends the connection.
func (c *Conn) Close() { _ = c.conn.Close() }

// Do sends a command and returns its answer, within the deadline of ctx.
func (c *Conn) Do(ctx context.Context, args ...string) (string, error) {
	deadline, _ := ctx.Deadline()
	if err := c.conn.SetDeadline(deadline); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c.conn, encode(args)); err != nil {
		return "", fmt.Errorf("send %s: %w", args[0], err)
	}
	answer, err := c.read()
	if refusal, ok := errors.AsType[Error](err); ok {
		return "", refusal
	}
	if err != nil {
		return "", fmt.Errorf("read the answer to %s: %w", args[0], err)
	}
	return answer, nil
}

func encode(args []string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return out.String()
}

func (c *Conn) read() (string, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	kind, rest := line[0], strings.TrimRight(string(line[1:]), "\r\n")
	switch kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", Error(rest)
	case '$':
		return c.text(rest)
	}
	return "", fmt.Errorf("%.40q begins no answer that is expected", line)
}

// text reads what follows its own length.
func (c *Conn) text(length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > maxText {
		return "", fmt.Errorf("a text of %.40q bytes is not expected", length)
	}
	text := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(c.in, text); err != nil {
		return "", err
	}
	return string(text[:n]), nil
}
