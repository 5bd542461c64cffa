// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package etcdgate

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

// probed returns a probe server in front of a simulated etcd.
func probed(t *testing.T, etcd http.HandlerFunc) (*health, func(path string) (int, string)) {
	t.Helper()
	server := httptest.NewServer(etcd)
	t.Cleanup(server.Close)
	o := Defaults()
	dir := t.TempDir()
	o.Metrics, o.Latch, o.DataDir = server.URL, filepath.Join(dir, "part"), filepath.Join(dir, "data")
	h := newHealth(o, etcdstart.Start{Mode: etcdstart.Bootstrap, ID: ours().ID})
	return h, func(path string) (int, string) {
		answer := httptest.NewRecorder()
		h.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return answer.Code, answer.Body.String()
	}
}

func (h *health) expectLatch(t *testing.T, want bool) {
	t.Helper()
	if got, err := latch(h.options.Latch).closed(); got != want || err != nil {
		t.Errorf("expected the member to count as part of its cluster: %v, got %v, %v", want, got, err)
	}
}

func TestAMemberIsReadyWhenEtcdSaysSo(t *testing.T) {
	code, body := http.StatusServiceUnavailable, `{"health":"false","reason":"RAFT NO LEADER"}`
	h, probe := probed(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" || r.URL.RawQuery != "exclude=NOSPACE" {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	})
	expect := func(wantCode int, part string) {
		t.Helper()
		if got, text := probe("/readyz"); got != wantCode || !strings.Contains(text, part) {
			t.Errorf("expected %d %q, got %d %q", wantCode, part, got, text)
		}
	}
	expect(503, "RAFT NO LEADER")
	h.expectLatch(t, false)
	code, body = http.StatusOK, `{"health":"true"}`
	expect(200, body)
	h.expectLatch(t, true)
}

// A kubelet probes only once per second. If a probe of a starting member fails too early, clients have to wait for the
// next probe.
func TestAMemberThatStartsIsWaitedForByTheFirstProbe(t *testing.T) {
	var asked atomic.Int32
	h, probe := probed(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	if code, text := probe("/readyz"); code != 200 || asked.Load() != 4 {
		t.Errorf("expected the first probe to report ready, got %d %q after %d requests", code, text, asked.Load())
	}
	h.expectLatch(t, true)
	asked.Store(-100)
	if code, _ := probe("/readyz"); code != 503 || asked.Load() != -99 {
		t.Errorf("expected a member that was ready to be asked only once, got %d after %d", code, asked.Load()+100)
	}
	h.wasReady.Store(false)
	h.begun = time.Now().Add(-time.Minute)
	asked.Store(-100)
	if code, _ := probe("/readyz"); code != 503 || asked.Load() != -99 {
		t.Errorf("expected few requests to a member that does not become ready, got %d after %d", code, asked.Load()+100)
	}
}

// The latch is a file that records that a member was part of its cluster. If the member became ready without a latch,
// it could start without data next time.
func TestAMemberIsNotReadyBeforeItsLatchIsClosed(t *testing.T) {
	h, probe := probed(t, func(http.ResponseWriter, *http.Request) {})
	must(t, put(filepath.Join(h.options.Latch, "in the way"), ""))
	if code, text := probe("/readyz"); code != 503 || !strings.Contains(text, "part of its cluster") {
		t.Errorf("expected the member not to be ready, got %d %q", code, text)
	}
}

// Regression: when the disk of the node was full, an established member did not become ready.
func TestAnEstablishedMemberNeedsNoLatch(t *testing.T) {
	h, _ := probed(t, func(http.ResponseWriter, *http.Request) {})
	must(t, put(filepath.Join(h.options.Latch, "in the way"), ""))
	answer := httptest.NewRecorder()
	newHealth(h.options, etcdstart.Start{Mode: etcdstart.Established, ID: ours().ID}).handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
	if answer.Code != 200 {
		t.Errorf("expected the member to be ready, got %d %q", answer.Code, answer.Body)
	}
}

// A learner may get its vote before it is healthy.
func TestAMemberThatJoinsIsPartOfTheClusterOnceItHasALog(t *testing.T) {
	h, probe := probed(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	h.start.Mode = etcdstart.Join
	_, _ = probe("/readyz")
	h.expectLatch(t, false)
	must(t, put(filepath.Join(h.options.DataDir, segment), "x"))
	if code, _ := probe("/readyz"); code != 503 {
		t.Errorf("expected the member not to be ready, got %d", code)
	}
	h.expectLatch(t, true)
}

// A member must not be killed because other members are missing.
//
// Regression: an etcd 3.4 whose /health had been queried could not be upgraded to 3.6.
func TestAMemberThatIsReadyByItsLeaderIsNotAskedForItsHealth(t *testing.T) {
	leader := 0
	h, probe := probed(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			t.Errorf("asked for %s", r.URL)
		}
		fmt.Fprintf(w, "# TYPE etcd_server_has_leader gauge\netcd_server_has_leader %d\n", leader)
	})
	h.options.ByLeader = true
	if code, text := probe("/readyz"); code != 503 || !strings.Contains(text, "no leader") {
		t.Errorf("expected the member not to be ready without a leader, got %d %q", code, text)
	}
	leader = 1
	if code, text := probe("/readyz"); code != 200 {
		t.Errorf("expected the member to be ready with a leader, got %d %q", code, text)
	}
}

func TestAMemberIsAliveWhateverItAnswers(t *testing.T) {
	for _, code := range []int{200, 404, 500, 503} {
		_, probe := probed(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/health" {
				t.Error("expected no request that reads the store of etcd")
			}
			w.WriteHeader(code)
		})
		if got, body := probe("/livez"); got != 200 {
			t.Errorf("etcd answers %d: got %d %q", code, got, body)
		}
	}
}

func TestAMemberIsAliveUntilItHasOpenedItsListener(t *testing.T) {
	for _, metrics := range []bool{true, false} {
		address := loopback.Address()
		h := newHealth(Options{Client: address}, etcdstart.Start{})
		if metrics {
			h.options.Metrics = "http://" + address
		}
		probe := func() (int, string) {
			answer := httptest.NewRecorder()
			h.live(answer, httptest.NewRequest(http.MethodGet, "/livez", http.NoBody))
			return answer.Code, answer.Body.String()
		}
		if code, body := probe(); code != 200 || !strings.Contains(body, "not opened its listener yet") {
			t.Errorf("before: %d %q", code, body)
		}
		listener, err := net.Listen("tcp", address)
		must(t, err)
		server := &http.Server{Handler: http.NotFoundHandler()}
		go func() { _ = server.Serve(listener) }()
		if code, body := probe(); code != 200 || body != "ok\n" {
			t.Errorf("open: %d %q", code, body)
		}
		must(t, server.Close())
		if code, body := probe(); code != 503 || !strings.Contains(body, "refused") {
			t.Errorf("closed: %d %q", code, body)
		}
	}
}

func TestAnEtcdThatIsStoppedIsNeitherReadyNorAlive(t *testing.T) {
	address := loopback.Address()
	m := newMember(t, "--metrics", address)
	m.o.Metrics = "http://" + address
	m.allow(etcdstart.Bootstrap)
	r := m.start()
	m.says("output")
	m.answers("/livez", 200, "ok\n")
	m.answers("/readyz", 200, "/health")
	m.stop()
	begin := time.Now()
	if code, body := m.probe("/livez"); code != 503 || !strings.Contains(body, "deadline") || time.Since(begin) < liveTime-time.Second {
		t.Errorf("after %s: %d %q", time.Since(begin), code, body)
	}
	if code, body := m.probe("/readyz"); code != 503 {
		t.Errorf("ready: %d %q", code, body)
	}
	must(t, syscall.Kill(m.pid(), syscall.SIGCONT))
	m.answers("/livez", 200, "ok")
	m.answers("/readyz", 200, "/health")
	r.signal(syscall.SIGTERM)
	r.ends(0, "")
}

// stop stops all threads of etcd. A busy machine may run some of them for a moment after the signal.
func (m *member) stop() {
	m.Helper()
	pid := m.pid()
	must(m.T, syscall.Kill(pid, syscall.SIGSTOP))
	eventually.True(m.T, patience, "etcd is stopped", func() error {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(threads) == 0 {
			return fmt.Errorf("no threads of process %d: %w", pid, err)
		}
		for _, thread := range threads {
			if stat, err := os.ReadFile(thread); err != nil || !strings.Contains(string(stat), ") T ") {
				return fmt.Errorf("%s: %s %w", thread, stat, err)
			}
		}
		return nil
	})
}

func TestAnOldEtcdIsReadyWhenItTakesConnections(t *testing.T) {
	m := newMember(t)
	m.allow(etcdstart.Established)
	must(t, put(filepath.Join(m.o.DataDir, segment), "x"))
	must(t, ours().write(m.o.Marker))
	m.start()
	m.says("output")
	m.answers("/readyz", 503, "refused")
	m.answers("/livez", 200, "not opened its listener yet")
	listener, err := net.Listen("tcp", m.o.Client)
	must(t, err)
	defer listener.Close()
	m.answers("/readyz", 200, "accepts connections")
	m.answers("/livez", 200, "ok\n")
}
