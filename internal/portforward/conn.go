// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// mostWords is how many bytes of a node's error message are read.
const mostWords = 4 << 10

// conn is a connection to a pod over a tunnel of its own. The streams of a tunnel do not support deadlines. Therefore
// the caller gets one end of a pipe, and conn copies data between the other end and the stream.
type conn struct {
	net.Conn
	tunnel httpstream.Connection
	to     addr

	mu  sync.Mutex
	why error // error of the connection; set before the other end of the pipe is closed
}

// newConn starts to forward a port over a tunnel. Closing the connection also closes the tunnel. If newConn fails, the
// tunnel stays open.
func newConn(tunnel httpstream.Connection, to addr, port string) (net.Conn, error) {
	failure, err := stream(tunnel, corev1.StreamTypeError, port)
	if err != nil {
		return nil, fmt.Errorf("open the error stream: %w", err)
	}
	failure.Close() // opcrew sends no data on the error stream
	data, err := stream(tunnel, corev1.StreamTypeData, port)
	if err != nil {
		return nil, fmt.Errorf("open the data stream: %w", err)
	}
	ours, theirs := net.Pipe()
	c := &conn{Conn: ours, tunnel: tunnel, to: to}
	go c.send(data, theirs)
	go c.receive(theirs, data, failure)
	return c, nil
}

func stream(tunnel httpstream.Connection, kind, port string) (httpstream.Stream, error) {
	headers := http.Header{}
	headers.Set(corev1.StreamType, kind)
	headers.Set(corev1.PortHeader, port)
	headers.Set(corev1.PortForwardRequestIDHeader, "0") // each tunnel has only one request
	return tunnel.CreateStream(headers)
}

// send copies data from the caller to the stream until either end is closed.
func (c *conn) send(data httpstream.Stream, theirs net.Conn) {
	_, _ = io.Copy(data, theirs)
	_ = c.tunnel.Close()
}

// receive copies data from the stream to the caller until either end is closed. It also records an error that the node
// reports.
func (c *conn) receive(theirs net.Conn, data, failure httpstream.Stream) {
	_, _ = io.Copy(theirs, data)
	words, _ := io.ReadAll(io.LimitReader(failure, mostWords))
	c.fail(strings.TrimSpace(string(words)))
	_ = theirs.Close()
	_ = c.tunnel.Close()
}

// fail records an error that the node reported as text. If the text says that the connection was refused, the error
// wraps ECONNREFUSED. Callers check for no other error.
func (c *conn) fail(words string) {
	if words == "" {
		return
	}
	err := errors.New(words)
	if strings.Contains(words, "connection refused") {
		err = fmt.Errorf("%w (%s)", syscall.ECONNREFUSED, words)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = &net.OpError{Op: "port-forward", Net: c.to.network, Addr: c.to, Err: err}
}

// Read reads data. When the connection ends, it returns the reason that the node reported, if there is one.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.explain(err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.explain(err)
}

func (c *conn) explain(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return c.why
	}
	return err
}

func (c *conn) RemoteAddr() net.Addr { return c.to }

// addr is the address that the caller dialled.
type addr struct{ network, address string }

func (a addr) Network() string { return a.network }
func (a addr) String() string  { return a.address }
