// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// server simulates an API server and a node. It forwards pod ports to listeners on this machine, with the real protocol
// of Kubernetes.
type server struct {
	*httptest.Server
	pods []corev1.Pod
	// ports maps <namespace>/<pod>:<port> to the address of a listener.
	ports map[string]string

	mu      sync.Mutex
	tunnels int // number of open tunnels
}

func newServer(t *testing.T) *server {
	s := &server{ports: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) dialer(t *testing.T) *Dialer {
	t.Helper()
	d, err := New(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api/v1/pods":
		s.list(w, strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "status.podIP="))
	case len(path) == 7 && path[6] == "portforward":
		s.forward(w, r, path[3]+"/"+path[5])
	default:
		http.NotFound(w, r)
	}
}

func (s *server) list(w http.ResponseWriter, ip string) {
	list := corev1.PodList{}
	list.APIVersion, list.Kind = "v1", "PodList"
	for _, pod := range s.pods {
		if pod.Status.PodIP == ip {
			list.Items = append(list.Items, pod)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// forward only supports SPDY. A client that tries WebSockets first must fall back.
func (s *server) forward(w http.ResponseWriter, r *http.Request, pod string) {
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 2)
	tunnel := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if tunnel == nil {
		return
	}
	defer func() { _ = tunnel.Close() }()
	s.count(1)
	defer s.count(-1)
	failure, data := <-streams, <-streams
	go s.pump(pod, failure, data)
	<-tunnel.CloseChan()
}

// pump forwards the two streams of a connection in the same way as a kubelet.
func (s *server) pump(pod string, failure, data httpstream.Stream) {
	defer data.Close()
	defer failure.Close()
	target, err := net.Dial("tcp", s.ports[pod+":"+data.Headers().Get(corev1.PortHeader)])
	if err != nil {
		fmt.Fprintf(failure, "error forwarding port to pod: %v", err)
		return
	}
	defer func() { _ = target.Close() }()
	go func() {
		_, _ = io.Copy(target, data)
		_ = target.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(data, target)
}

func (s *server) count(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tunnels += by
}

func (s *server) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tunnels
}

// listen starts a listener on this machine that passes its connections to serve.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func echo(conn net.Conn) { _, _ = io.Copy(conn, conn) }

func dial(t *testing.T, d *Dialer, address string) net.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		t.Fatalf("expected a connection to %s: %v", address, err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func pod(namespace, name, ip string, phase corev1.PodPhase) corev1.Pod {
	p := corev1.Pod{}
	p.Namespace, p.Name, p.Status.PodIP, p.Status.Phase = namespace, name, ip, phase
	return p
}

func TestPodsAreReachedByNameAndByAddress(t *testing.T) {
	s := newServer(t)
	s.ports["ns/member-0:2379"] = listen(t, echo)
	s.pods = []corev1.Pod{
		pod("ns", "member-0", "10.1.2.3", corev1.PodRunning),
		pod("ns", "old", "10.1.2.3", corev1.PodFailed),
		pod("ns", "other", "10.1.2.4", corev1.PodRunning),
	}
	for _, address := range []string{"member-0.members.ns.svc:2379", "member-0.members.ns.svc.cluster.local:2379", "10.1.2.3:2379"} {
		conn := dial(t, s.dialer(t), address)
		if _, err := io.WriteString(conn, "hello"); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		answer := make([]byte, 5)
		if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "hello" {
			t.Errorf("%s: expected what was sent to come back, got %q (%v)", address, answer, err)
		}
	}
}

func TestMuchDataArrivesWhole(t *testing.T) {
	s := newServer(t)
	s.ports["ns/member-0:1"] = listen(t, echo)
	conn := dial(t, s.dialer(t), "member-0.members.ns.svc:1")
	sent := []byte(strings.Repeat("0123456789abcdef", 1<<16))
	go func() { _, _ = conn.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != string(sent) {
		t.Errorf("expected %d bytes to come back as they were sent: %v", len(sent), err)
	}
}

func TestAPortOnWhichNothingListensRefuses(t *testing.T) {
	s := newServer(t)
	closed := listen(t, echo)
	s.ports["ns/member-0:2379"] = "127.0.0.1:1" // no process listens on this port
	s.ports["ns/member-0:1"] = closed
	conn := dial(t, s.dialer(t), "member-0.members.ns.svc:2379")
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("expected the connection to be refused, got: %v", err)
	}
}

func TestTheEndOfAConnectionIsSeenAtBothEnds(t *testing.T) {
	s := newServer(t)
	ended := make(chan struct{})
	s.ports["ns/member-0:1"] = listen(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "bye") })
	s.ports["ns/member-0:2"] = listen(t, func(conn net.Conn) {
		_, _ = io.Copy(io.Discard, conn)
		close(ended)
	})
	if all, err := io.ReadAll(dial(t, s.dialer(t), "member-0.members.ns.svc:1")); err != nil || string(all) != "bye" {
		t.Errorf("expected the words of the pod and the end, got %q (%v)", all, err)
	}
	_ = dial(t, s.dialer(t), "member-0.members.ns.svc:2").Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("expected the pod to see that the connection is closed")
	}
	for deadline := time.Now().Add(10 * time.Second); s.open() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("expected no tunnel to stay open, %d do", s.open())
		}
	}
}

func TestReadsHaveDeadlines(t *testing.T) {
	s := newServer(t)
	s.ports["ns/member-0:1"] = listen(t, echo)
	conn := dial(t, s.dialer(t), "member-0.members.ns.svc:1")
	if err := conn.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("expected the read to end at its deadline, got: %v", err)
	}
}

// A connection through port-forward must not weaken the TLS verification of the server.
func TestTheNameOfATLSServerIsStillVerified(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate is valid for example.com
	t.Cleanup(secure.Close)
	s := newServer(t)
	s.ports["ns/member-0:2379"] = secure.Listener.Addr().String()
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	for name, want := range map[string]bool{"example.com": true, "member-0.members.ns.svc": false} {
		client := tls.Client(dial(t, s.dialer(t), "member-0.members.ns.svc:2379"), &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12})
		err := client.HandshakeContext(t.Context())
		var wrongName x509.HostnameError
		if want && err != nil || !want && !errors.As(err, &wrongName) {
			t.Errorf("server name %s: expected it to be accepted: %t, got: %v", name, want, err)
		}
	}
}

func TestHostsThatNameNoPodAreRefused(t *testing.T) {
	s := newServer(t)
	onHost := pod("ns", "host", "10.1.2.5", corev1.PodRunning)
	onHost.Spec.HostNetwork = true
	s.pods = []corev1.Pod{
		pod("ns", "a", "10.1.2.3", corev1.PodRunning), pod("ns", "b", "10.1.2.3", corev1.PodRunning),
		pod("ns", "ended", "10.1.2.4", corev1.PodSucceeded), onHost,
	}
	for address, says := range map[string]string{
		"example.com:80":         "does not name a pod",
		"service.ns.svc:80":      "does not name a pod",
		"no-port":                "missing port",
		"10.1.2.9:80":            "0 running pods",
		"10.1.2.4:80":            "0 running pods",
		"10.1.2.5:80":            "0 running pods",
		"10.1.2.3:80":            "2 running pods",
		"gone.members.other.svc": "missing port",
	} {
		if _, err := s.dialer(t).DialContext(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: expected an error that says %q, got: %v", address, says, err)
		}
	}
}

func TestADialEndsWithItsContext(t *testing.T) {
	held := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-held }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(held) })
	d, err := New(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.DialContext(ctx, "tcp", "member-0.members.ns.svc:1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("expected the dial to end with its context, got: %v", err)
	}
}
