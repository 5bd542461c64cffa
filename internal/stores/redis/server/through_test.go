// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// pongs answers PING, and refuses HELLO as servers before version 6 do.
func pongs(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch strings.ToLower(lines.Text()) {
		case "hello":
			_, _ = conn.Write([]byte("-ERR unknown command 'hello'\r\n"))
		case "ping":
			_, _ = conn.Write([]byte("+PONG\r\n"))
		}
	}
}

func TestServersCanBeReachedByADialerThatIsGiven(t *testing.T) {
	issuer := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate is for the name example.com
	t.Cleanup(issuer.Close)
	roots := x509.NewCertPool()
	roots.AddCert(issuer.Certificate())
	for title, c := range map[string]struct {
		address  string
		security *tls.Config
		refused  bool
	}{
		"plain":                {address: "10.1.2.3:6379"},
		"TLS":                  {address: "example.com:6379", security: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
		"TLS for another name": {address: "10.1.2.3:6379", security: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, refused: true},
	} {
		t.Run(title, func(t *testing.T) {
			dial := func(_ context.Context, _, asked string) (net.Conn, error) {
				if asked != c.address {
					t.Errorf("expected %s to be dialled, got %s", c.address, asked)
				}
				ours, theirs := net.Pipe()
				if c.security != nil {
					theirs = tls.Server(theirs, &tls.Config{Certificates: issuer.TLS.Certificates, MinVersion: tls.VersionTLS12})
				}
				go pongs(theirs)
				return ours, nil
			}
			store, err := DialThrough(dial)(Target{Credentials: Credentials{TLS: c.security}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() }) // no call is in progress, so an error does not matter
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			answers, err := store.Do(ctx, c.address, Command{"PING"})
			if c.refused {
				if _, ok := errors.AsType[x509.HostnameError](err); !ok {
					t.Errorf("expected the server's name to be refused, got %v (%v)", answers, err)
				}
				return
			}
			if err != nil || len(answers) != 1 || answers[0] != "PONG" {
				t.Errorf("expected PONG, got %v (%v)", answers, err)
			}
		})
	}
}
