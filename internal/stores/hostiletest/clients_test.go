// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest_test

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/opcrew/opcrew/internal/stores/hostiletest"
)

// dial connects to a server. The connection ends after a while, so that no server can occupy the test.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(listening)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// get is a careful client of memcached: it reads one value of at most a megabyte.
func get(conn net.Conn) (string, error) {
	if _, err := io.WriteString(conn, "get k\r\n"); err != nil {
		return "", err
	}
	in, size := bufio.NewReader(io.LimitReader(conn, 1<<20)), 0
	head, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	if _, err := fmt.Sscanf(head, "VALUE k 0 %d\r\n", &size); err != nil || size < 0 || size > 1<<20 {
		return "", fmt.Errorf("the server answers %q: %w", head, err)
	}
	value := make([]byte, size)
	if _, err := io.ReadFull(in, value); err != nil {
		return "", err
	}
	if end, err := in.ReadString('\n'); err != nil || end != "\r\n" {
		return "", fmt.Errorf("the value continues with %d bytes: %w", len(end), err)
	}
	if end, err := in.ReadString('\n'); err != nil || end != "END\r\n" {
		return "", fmt.Errorf("the answer does not end: %w", err)
	}
	return string(value), nil
}

func TestAClientOfMemcachedGetsAValueFromNoHostileServer(t *testing.T) {
	honest := hostiletest.Serve(func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n') // the client also reads the answer to a cut request
		_, _ = io.WriteString(conn, "VALUE k 0 5\r\nhello\r\nEND\r\n")
	})
	if value, err := get(dial(t, honest)); err != nil || value != "hello" {
		t.Fatalf("expected the value of an honest server, got %q and %v: this client proves nothing", value, err)
	}
	for name, address := range hostiletest.ServeMemcached() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if value, err := get(dial(t, address)); err == nil {
				t.Errorf("expected no value, got one of %d bytes", len(value))
			}
		})
	}
}

// login connects to an sshd, and returns the error of the key exchange or of the login.
func login(t *testing.T, address string) error {
	t.Helper()
	config := &ssh.ClientConfig{User: "root", HostKeyCallback: ssh.InsecureIgnoreHostKey()}
	conn, _, _, err := ssh.NewClientConn(dial(t, address), address, config)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// sshd serves a connection as an honest sshd that accepts every login.
func sshd(t *testing.T) func(net.Conn) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)
	return func(conn net.Conn) {
		if server, _, _, err := ssh.NewServerConn(conn, config); err == nil {
			_ = server.Wait() // ends when the client closes the connection
		}
	}
}

func TestAClientOfSSHLogsInToNoHostileServer(t *testing.T) {
	if err := login(t, hostiletest.Serve(sshd(t))); err != nil {
		t.Fatalf("expected a login at an honest server, got %v: this client proves nothing", err)
	}
	// These lies begin late, so a client must first understand what the server sends before them.
	why := map[string]string{"a garbage key exchange": "curve25519 public value", "an offer of many algorithms": "no common algorithm"}
	for name, address := range hostiletest.ServeSSH() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := login(t, address); err == nil || !strings.Contains(err.Error(), why[name]) {
				t.Errorf("expected no login and an error with the words %q, got %v", why[name], err)
			}
		})
	}
}
