// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// dial opens a connection to the proxy for requests that http.Client cannot send.
func (f *fixture) dial() net.Conn {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.routes[0].listener.Addr().String())
	must(f.t, err)
	f.t.Cleanup(func() { _ = conn.Close() })
	must(f.t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// raw sends a request exactly as it is written.
func (f *fixture) raw(request string) answer {
	f.t.Helper()
	conn := f.dial()
	_, err := io.WriteString(conn, request)
	must(f.t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(f.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(f.t, err)
	return answer{response.StatusCode, response.Header, string(body), response.Close}
}

func TestTheApplicationSeesOnlyTheVerifiedUser(t *testing.T) {
	f := start(t, echo(), func(o *Options) { o.Exempt = []string{"/open"} })
	for _, test := range []struct {
		name, path string
		headers    []string
		want       string
	}{
		{"nothing", "/", nil, "ada"},
		{"the header itself", "/", []string{"X-Forwarded-User: root"}, "ada"},
		{"the header twice", "/", []string{"X-Forwarded-User: root", "X-Forwarded-User: admin"}, "ada"},
		{"other letters", "/", []string{"x-forwarded-USER: root"}, "ada"},
		{"underscores", "/", []string{"X_Forwarded_User: root", "x-forwarded_user: root"}, "ada"},
		{"what CGI makes an underscore of", "/", []string{"X.Forwarded.User: root", "X~Forwarded|User: root"}, "ada"},
		{"hop by hop", "/", []string{"Connection: X-Forwarded-User"}, "ada"},
		{"hop by hop, with a value", "/", []string{"Connection: keep-alive, x-forwarded-user", "X-Forwarded-User: root"}, "ada"},
		{"hop by hop, Authorization", "/", []string{"Connection: Authorization"}, "ada"},
		{"exempt", "/open", []string{"X-Forwarded-User: root", "X_Forwarded_User: root"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := "GET " + test.path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRhOjE=\r\n" + strings.Join(append(test.headers, "\r\n"), "\r\n")
			a := f.raw(request)
			f.expectCode(a, http.StatusOK)
			if got := usersIn(a.body); got != test.want {
				t.Errorf("the application sees %q, expected %q:\n%s", got, test.want, a.body)
			}
			if strings.Contains(a.body, "Authorization") {
				t.Errorf("the application sees the password:\n%s", a.body)
			}
		})
	}
}

// usersIn returns the headers in a response body that could name a user, joined into one text.
func usersIn(body string) string {
	var found []string
	for line := range strings.Lines(body) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if alike(name, "X-Forwarded-User") {
			found = append(found, value)
		}
	}
	return strings.Join(found, ",")
}

func TestATrailerCannotNameTheUser(t *testing.T) {
	trailers := make(chan http.Header, 1)
	f := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		trailers <- r.Trailer
	}))
	f.expectCode(f.raw("POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRhOjE=\r\nTransfer-Encoding: chunked\r\nTrailer: X-Forwarded-User\r\n\r\n"+
		"1\r\na\r\n0\r\nX-Forwarded-User: root\r\n\r\n"), http.StatusOK)
	if got := <-trailers; got.Get("X-Forwarded-User") != "" {
		t.Errorf("the application gets the trailer %v", got)
	}
}

func TestForwardingHeadersAreKeptAndAppendedTo(t *testing.T) {
	f := start(t, echo())
	expect := func(headers string, lines ...string) {
		t.Helper()
		a := f.raw("GET /a%2Fb?x=1;y=%zz HTTP/1.1\r\nHost: shop.example.com\r\nAuthorization: Basic YWRhOjE=\r\n" + headers + "\r\n")
		f.expectCode(a, http.StatusOK)
		got := strings.Split(a.body, "\r\n")
		for _, line := range lines {
			if !slices.Contains(got, line) {
				t.Errorf("expected %q in:\n%s", line, a.body)
			}
		}
	}
	expect("", "Host: shop.example.com", "URI: /a%2Fb?x=1;y=%zz", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: shop.example.com")
	expect("X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: www.example.com\r\nForwarded: for=192.0.2.1\r\n",
		"X-Forwarded-For: 192.0.2.1, 127.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: www.example.com", "Forwarded: for=192.0.2.1")
}

func TestOnlyUpgradesToAWebsocketAreForwarded(t *testing.T) {
	f := start(t, echo())
	for _, protocol := range []string{"h2c", "SPDY/3.1", "websocket, h2c", "TLS/1.0"} {
		a := f.raw("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRhOjE=\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: " + protocol + "\r\n\r\n")
		f.expectCode(a, http.StatusOK)
		if strings.Contains(a.body, "Upgrade") || strings.Contains(a.body, "Http2") {
			t.Errorf("the upgrade to %s was forwarded:\n%s", protocol, a.body)
		}
	}
}

func TestAnApplicationThatIsDownIsABadGateway(t *testing.T) {
	down, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := portOf(t, "http://"+down.Addr().String())
	must(t, down.Close())
	f := start(t, echo(), func(o *Options) { o.Routes[0].Upstream = port })
	for range 10 {
		a := f.get("ada", "1")
		f.expectCode(a, http.StatusBadGateway)
		if !strings.Contains(a.body, "does not respond") {
			t.Errorf("the answer is %q", a.body)
		}
	}
	if n := strings.Count(f.logs.String(), "The application does not respond"); n == 0 || n > 5 {
		t.Errorf("%d lines of log for 10 requests in a moment, expected one a second", n)
	}
}
