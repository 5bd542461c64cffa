// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// tunnel accepts an upgrade, and then responds to each line with the name of the user and the line.
func tunnel() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
		for {
			line, err := buffered.ReadString('\n')
			if err != nil {
				return
			}
			fmt.Fprintf(conn, "%s says %s", r.Header.Get("X-Forwarded-User"), line)
		}
	})
}

// websocket opens a websocket connection through the proxy.
func (f *fixture) websocket() io.ReadWriter {
	f.t.Helper()
	conn := f.dial()
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRhOjE=\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	must(f.t, err)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	must(f.t, err)
	if response.StatusCode != http.StatusSwitchingProtocols || len(response.Header["Connection"]) != 1 {
		f.t.Fatalf("answered %d with Connection %q", response.StatusCode, response.Header["Connection"])
	}
	return struct {
		io.Reader
		io.Writer
	}{reader, conn}
}

func expectLine(t testing.TB, from io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v, expected %q", got, err, want)
	}
}

func TestAWebsocketGoesBothWays(t *testing.T) {
	f := start(t, tunnel())
	socket := f.websocket()
	for _, line := range []string{"hello\n", strings.Repeat("x", 100_000) + "\n"} {
		_, err := io.WriteString(socket, line)
		must(t, err)
		expectLine(t, socket, "ada says "+line)
	}
	if got := f.metrics.inFlight.Load(); got != 1 {
		t.Errorf("%d requests are in flight, expected 1", got)
	}
}

func TestAWebsocketWithoutAPasswordIsRefused(t *testing.T) {
	f := start(t, tunnel())
	a := f.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	f.expectCode(a, http.StatusUnauthorized)
}

// steps returns an application that sends an event for each value of the channel. header holds the headers of the
// response. If they contain a Content-Length, a client might wait for the complete response.
func steps(events <-chan string, header http.Header) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		for event := range events {
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush() // an error is ignored: the client would notice the missing event
		}
	})
}

func TestAStreamArrivesAsItIsSent(t *testing.T) {
	for name, header := range map[string]http.Header{
		"server-sent events": {"Content-Type": {"text/event-stream"}},
		"of unknown length":  {},
		"of known length":    {"Content-Length": {"12"}},
	} {
		t.Run(name, func(t *testing.T) {
			events := make(chan string)
			f := start(t, steps(events, header))
			conn := f.dial()
			_, err := io.WriteString(conn, "GET / HTTP/1.0\r\nHost: x\r\nAuthorization: Basic YWRhOjE=\r\n\r\n")
			must(t, err)
			reader := bufio.NewReader(conn)
			events <- "one..\n"
			response, err := http.ReadResponse(reader, nil)
			must(t, err)
			defer response.Body.Close()
			expectLine(t, response.Body, "one..\n")
			events <- "two..\n"
			expectLine(t, response.Body, "two..\n")
			close(events)
		})
	}
}

// startH2C starts an application that only supports HTTP/2, and returns its port.
func startH2C(t testing.TB, app http.Handler) int {
	t.Helper()
	server := httptest.NewUnstartedServer(app)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return portOf(t, server.URL)
}

func h2cClient() *http.Client {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: transport, Timeout: patience}
}

func TestHTTP2InTheClearIsServed(t *testing.T) {
	f := start(t, echo())
	f.client = h2cClient()
	defer f.client.CloseIdleConnections()
	r := f.request("ada", "1")
	r.Header.Set("x_forwarded_user", "root")
	a, err := f.do(r)
	must(t, err)
	f.expectCode(a, http.StatusOK)
	if usersIn(a.body) != "ada" || !strings.Contains(a.body, "Protocol: HTTP/1.1") {
		t.Errorf("the application got:\n%s", a.body)
	}
	f.expectCode(f.get("ada", "2"), http.StatusUnauthorized)
}

// grpcLike returns an application that responds to each line at once and ends with a trailer, as gRPC does.
func grpcLike() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		_ = http.NewResponseController(w).Flush() // an error is ignored: the client would notice the missing headers
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			fmt.Fprintf(w, "%s over %s with %s\n", lines.Text(), r.Proto, r.Header.Get("Te"))
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("Grpc-Status", "0")
	})
}

func TestABidirectionalHTTP2StreamHasATrailer(t *testing.T) {
	f := start(t, echo(), func(o *Options) {
		o.Routes[0].H2C = true
		o.Routes[0].Upstream = startH2C(t, grpcLike())
	})
	body, send := io.Pipe()
	r := f.request("ada", "1")
	r.Method, r.Body, r.ContentLength = http.MethodPost, body, -1
	r.Header.Set("Te", "trailers")
	client := h2cClient()
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	must(t, err)
	defer response.Body.Close()
	for _, line := range []string{"one", "two"} {
		_, err := io.WriteString(send, line+"\n")
		must(t, err)
		expectLine(t, response.Body, line+" over HTTP/2.0 with trailers\n")
	}
	must(t, send.Close())
	if _, err := io.ReadAll(response.Body); err != nil || response.Trailer.Get("Grpc-Status") != "0" {
		t.Errorf("ended with %v and the trailer %v", err, response.Trailer)
	}
}

func TestAWebsocketReachesAnApplicationThatSpeaksHTTP2Too(t *testing.T) {
	f := start(t, tunnel(), func(o *Options) { o.Routes[0].H2C = true })
	socket := f.websocket()
	_, err := io.WriteString(socket, "hello\n")
	must(t, err)
	expectLine(t, socket, "ada says hello\n")
}
