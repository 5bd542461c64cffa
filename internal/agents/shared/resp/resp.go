// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package resp is a client for the part of the Redis protocol (RESP2) that the agent needs: commands whose responses
// are lines, texts or lists. A client library would double the size of the binary. The package does not interpret
// responses, and does not retry.
package resp

import (
	"bufio"
	"cmp"
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
	// maxText is the maximum size of a text in bytes. Every valid response is smaller: CLUSTER NODES returns 200 KiB
	// for a cluster of a thousand nodes.
	maxText = 4 << 20
	maxLine = 64 << 10
	// maxItems is the maximum number of items in all lists together in the responses to a request. maxDepth is the
	// maximum depth of nested lists.
	maxItems, maxDepth = 1 << 16, 4
)

// Error is an error response of the server, such as "LOADING Redis is loading the dataset in memory". The connection
// remains usable after it.
type Error string

func (e Error) Error() string { return string(e) }

// Code returns the first word of the error, such as LOADING.
func (e Error) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// Conn is a connection to a server, for one caller at a time. It is unusable after any error that is not an Error.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	left int // how many more list items the current responses may contain
}

// Dial connects to a server.
func Dial(ctx context.Context, address string) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newConn(conn), nil
}

func newConn(conn net.Conn) *Conn { return &Conn{conn: conn, in: bufio.NewReaderSize(conn, maxLine)} }

// Close closes the connection.
func (c *Conn) Close() { _ = c.conn.Close() }

// Do sends a command and returns the response, within the deadline of ctx.
func (c *Conn) Do(ctx context.Context, args ...string) (string, error) {
	return do(ctx, c, c.read, args)
}

// List sends a command whose response is a list. It flattens nested lists.
func (c *Conn) List(ctx context.Context, args ...string) ([]string, error) {
	return do(ctx, c, func() ([]string, error) { return c.list(nil, maxDepth) }, args)
}

// Pipe sends commands in one round trip, and returns their responses as List does. If the server refuses a command,
// Pipe still reads all responses, and then returns the first error.
func (c *Conn) Pipe(ctx context.Context, commands [][]string) ([][]string, error) {
	if len(commands) == 0 {
		return nil, nil
	}
	var text strings.Builder
	for _, args := range commands {
		text.WriteString(encode(args))
	}
	var refused error
	answers, err := exchange(ctx, c, commands[0][0], text.String(), func() ([][]string, error) {
		var out [][]string
		for range commands {
			answer, err := c.list(nil, maxDepth)
			if refusal, ok := errors.AsType[Error](err); ok {
				refused = cmp.Or(refused, error(refusal))
			} else if err != nil {
				return nil, err
			}
			out = append(out, answer)
		}
		return out, nil
	})
	return answers, cmp.Or(err, refused)
}

func do[T any](ctx context.Context, c *Conn, read func() (T, error), args []string) (T, error) {
	return exchange(ctx, c, args[0], encode(args), read)
}

// exchange sends encoded commands and reads the responses. name is the first command, for error messages.
func exchange[T any](ctx context.Context, c *Conn, name, text string, read func() (T, error)) (none T, err error) {
	deadline, _ := ctx.Deadline()
	if err := c.conn.SetDeadline(deadline); err != nil {
		return none, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c.conn, text); err != nil {
		return none, fmt.Errorf("send %s: %w", name, err)
	}
	c.left = maxItems
	answer, err := read()
	if refusal, ok := errors.AsType[Error](err); ok {
		return none, refusal
	}
	if err != nil {
		return none, fmt.Errorf("read the response to %s: %w", name, err)
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
	kind, rest, err := c.line()
	if err != nil {
		return "", err
	}
	return c.one(kind, rest)
}

func (c *Conn) line() (kind byte, rest string, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, "", err
	}
	return line[0], strings.TrimRight(string(line[1:]), "\r\n"), nil
}

// list reads a list and appends its items to out.
func (c *Conn) list(out []string, depth int) ([]string, error) {
	kind, rest, err := c.line()
	if err != nil {
		return nil, err
	}
	if kind != '*' {
		one, err := c.one(kind, rest)
		return append(out, one), err
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 || n > c.left || depth == 0 {
		return nil, fmt.Errorf("the server sent a list of %.40q items, which is not valid here or nested too deeply", rest)
	}
	c.left -= n
	for range n {
		if out, err = c.list(out, depth-1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// one reads a response that is not a list.
func (c *Conn) one(kind byte, rest string) (string, error) {
	switch kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", Error(rest)
	case '$':
		return c.text(rest)
	}
	return "", fmt.Errorf("the server sent an unexpected response that begins with %.40q", string(kind)+rest)
}

// text reads a text with the given length.
func (c *Conn) text(length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > maxText {
		return "", fmt.Errorf("the server sent a text of %.40q bytes, which is not valid here", length)
	}
	text := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(c.in, text); err != nil {
		return "", err
	}
	return string(text[:n]), nil
}
