// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// announces refuses HELLO, as servers before version 6 do. It answers everything else with a text that announces more
// bytes than any client can hold.
func announces(conn net.Conn) {
	defer conn.Close()
	for p := make([]byte, 4<<10); ; {
		n, err := conn.Read(p)
		if err != nil {
			return
		}
		answer := "$9223372036854775800\r\n"
		if strings.Contains(strings.ToLower(string(p[:n])), "hello") {
			answer = "-ERR unknown command\r\n"
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// Regression test: the client library allocated as much memory as an answer announced, and the panic of its goroutine
// ended the operator.
func TestAnAnswerBeyondAllMemoryIsAnErrorOverEveryKindOfConnection(t *testing.T) {
	issuer := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate is for the name example.com
	t.Cleanup(issuer.Close)
	roots := x509.NewCertPool()
	roots.AddCert(issuer.Certificate())
	security := &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	for name, by := range map[string]struct {
		security *tls.Config
		through  bool
	}{"direct": {}, "direct with TLS": {security: security}, "through": {through: true}, "through with TLS": {security, true}} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			if by.security != nil {
				listener = tls.NewListener(listener, &tls.Config{Certificates: issuer.TLS.Certificates, MinVersion: tls.VersionTLS12})
			}
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go announces(conn)
				}
			}()
			var through ContextDialer
			if by.through {
				through = (&net.Dialer{}).DialContext
			}
			address := listener.Addr().String()
			store, err := DialThrough(through)(Target{Nodes: []Node{{Address: address}}, Credentials: Credentials{TLS: by.security}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() }) // no call is in progress, so an error does not matter
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err = store.Status(ctx, address)
			if !TooLarge(err) || !strings.Contains(err.Error(), "the limit is") {
				t.Errorf("expected an error that names the limit, got %v", err)
			}
		})
	}
}

func TestOnlyAddressesOfTheTargetAreAsked(t *testing.T) {
	store, err := DialThrough(func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("expected nothing to be dialled, got %s", address)
		return nil, net.ErrClosed
	})(Target{Nodes: []Node{{Address: "10.0.0.1:6379"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"169.254.169.254:80", "10.0.0.1:22", "", "10.0.0.2:6379"} {
		if _, err := store.Do(t.Context(), address, Command{"PING"}); err == nil {
			t.Errorf("%q: expected it not to be asked", address)
		}
	}
}

func TestSlotsThatAreListedAgainAndAgainNeedNoMoreMemory(t *testing.T) {
	got, err := ParseSlots(strings.Repeat("0-16383,", 10_000) + "0")
	if err != nil || got.String() != "0-16383" {
		t.Errorf("expected all slots once, got %s (%v)", got, err)
	}
	if n := testing.AllocsPerRun(1, func() { _, _ = ParseSlots(strings.Repeat("0-16383,", 1000) + "0") }); n > 100 {
		t.Errorf("expected few allocations, got %v", n)
	}
}
