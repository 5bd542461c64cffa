// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package authproxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const user, password = "ada", "correct horse battery staple"

// result contains the measurements of the clients of one process.
type result struct {
	took   []time.Duration // duration of each request
	wall   time.Duration
	cpu    time.Duration // CPU time of the proxy
	failed int
}

func (r *result) add(other result) {
	r.took = append(r.took, other.took...)
	r.wall += other.wall
	r.cpu += other.cpu
	r.failed += other.failed
}

func (r *result) perSecond() float64 { return float64(len(r.took)) / r.wall.Seconds() }

func (r *result) percentile(p int) time.Duration {
	slices.Sort(r.took)
	return r.took[len(r.took)*p/100]
}

// drive sends requests to a process with a number of concurrent clients. Each client uses one connection.
func drive(t *testing.T, to *child, clients, requests int) result {
	t.Helper()
	parts := make([]result, clients)
	var running sync.WaitGroup
	worked, begin := to.cpu(t), time.Now()
	for i := range parts {
		running.Go(func() { parts[i] = client(to.address, requests/clients) })
	}
	running.Wait()
	whole := result{}
	for _, part := range parts {
		whole.add(part)
	}
	whole.wall, whole.cpu = time.Since(begin), to.cpu(t)-worked
	return whole
}

// client sends requests over one connection. It does as little work as possible, since it takes CPU time from the
// measured processes.
func client(address string, requests int) (r result) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return result{failed: requests}
	}
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	request := get(password)
	for range requests {
		begin := time.Now()
		if one(conn, from, request) != nil {
			r.failed += requests - len(r.took)
			return r
		}
		r.took = append(r.took, time.Since(begin))
	}
	return r
}

func get(password string) []byte {
	return fmt.Appendf(nil, "GET /some/path?x=1 HTTP/1.1\r\nHost: shop.example.com\r\nAuthorization: Basic %s\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n",
		base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

func one(to io.Writer, from *bufio.Reader, request []byte) error {
	if _, err := to.Write(request); err != nil {
		return err
	}
	status, err := from.ReadSlice('\n')
	if err != nil || !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		return fmt.Errorf("answered %q: %w", status, err)
	}
	for {
		line, err := from.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == len("\r\n") {
			_, err = from.Discard(bodyBytes)
			return err
		}
	}
}

// flood sends requests with a different wrong password each time, until stop is called. It uses several source
// addresses, because the rate limit applies per address. stop returns how many passwords the proxy checked.
func flood(t *testing.T, to *child, addresses int) (stop func() (tried int)) {
	t.Helper()
	var tried atomic.Int64
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i := range addresses {
		running.Go(func() {
			from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i+1))}}
			for n := 0; ctx.Err() == nil; n++ {
				if attack(ctx, from, to.address, fmt.Sprint(i, " ", n)) == http.StatusUnauthorized {
					tried.Add(1)
				}
			}
		})
	}
	return func() int {
		cancel()
		running.Wait()
		return int(tried.Load())
	}
}

// attack sends one request and returns the status code. If the rate limit refuses the request, attack pauses, because
// only requests with a password check are of interest.
func attack(ctx context.Context, from *net.Dialer, address, password string) (code int) {
	conn, err := from.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }()
	_, _ = conn.Write(get(password))
	_, _ = fmt.Fscanf(conn, "HTTP/1.1 %d", &code)
	if code == http.StatusTooManyRequests {
		time.Sleep(20 * time.Millisecond)
	}
	return code
}
