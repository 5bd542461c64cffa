// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster/clustertest"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// client returns a client that watches the Node until the test ends.
func client(t testing.TB, s *clustertest.Server, clock clock.WithTicker) (*Client, string) {
	t.Helper()
	dir := s.Credentials(t)
	c, err := New(dir, clock, slog.New(slog.NewTextHandler(io.Discard, nil)))
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { c.Watch(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); s.CloseClientConnections(); <-ended })
	return c, dir
}

// await waits until a condition is true.
func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	eventually.True(t, 20*time.Second, what, func() error {
		if !condition() {
			return errors.New("it is not true yet")
		}
		return nil
	})
}

func TestAWatchOfTheNodesMetadataIsTheOnlyCall(t *testing.T) {
	s := clustertest.New(t)
	c, _ := client(t, s, clock.RealClock{})
	if got := c.Annotations(); got != nil {
		t.Errorf("expected no annotations before the Node was seen, got %v", got)
	}
	await(t, "the Node to be seen", func() bool { return c.Annotations()["a"] == "1" })
	s.Set(func(annotations map[string]string) { annotations["a"] = "2" })
	await(t, "a change of the Node to be seen", func() bool { return c.Annotations()["a"] == "2" })
	s.Mutex.Lock()
	defer s.Mutex.Unlock()
	if len(s.Calls) != 1 || !strings.Contains(s.Calls[0], "fieldSelector=metadata.name%3Dnode-a") || !strings.Contains(s.Accepts[0], "PartialObjectMetadata") {
		t.Errorf("expected one watch of the metadata of one Node, got %v and %v", s.Calls, s.Accepts)
	}
}

func TestOnlyChangesOfAnnotationsAreReported(t *testing.T) {
	s := clustertest.New(t)
	c, _ := client(t, s, clock.RealClock{})
	<-c.Changed
	s.Set(func(map[string]string) {}) // a heartbeat
	await(t, "the heartbeat to be seen", func() bool { return c.seen().ResourceVersion == "10" })
	s.Set(func(annotations map[string]string) { annotations["a"] = "2" })
	<-c.Changed
	if c.seen().ResourceVersion != "11" {
		t.Errorf("expected the agent not to be woken by a heartbeat, got version %s", c.seen().ResourceVersion)
	}
}

func TestTheWatchContinuesAfterAnOutage(t *testing.T) {
	s := clustertest.New(t)
	c, _ := client(t, s, clock.RealClock{})
	<-c.Changed
	s.Mutex.Lock()
	s.Status = http.StatusServiceUnavailable
	s.Mutex.Unlock()
	s.CloseClientConnections()
	s.Set(func(annotations map[string]string) { annotations["a"] = "2" })
	await(t, "another attempt", func() bool { return s.Count("GET") >= 2 })
	s.Mutex.Lock()
	s.Status = 0
	s.Mutex.Unlock()
	await(t, "the change to be seen", func() bool { return c.Annotations()["a"] == "2" })
}

func TestAnOlderStateOfTheNodeIsIgnored(t *testing.T) {
	c := &Client{Changed: make(chan struct{}, 1)}
	node := func(uid, version, value string) *metav1.PartialObjectMetadata {
		out := &metav1.PartialObjectMetadata{}
		out.UID, out.ResourceVersion, out.Annotations = "x", version, map[string]string{"a": value}
		if uid != "" {
			out.UID = "y"
		}
		return out
	}
	for _, test := range []struct{ uid, version, value, want string }{
		{"", "10", "new", "new"}, {"", "9", "old", "new"}, {"", "100", "newer", "newer"}, {"other", "50", "another Node", "another Node"},
	} {
		c.learn(node(test.uid, test.version, test.value))
		if got := c.Annotations()["a"]; got != test.want {
			t.Errorf("after version %s: expected %q, got %q", test.version, test.want, got)
		}
	}
	c.learn(nil)
	if c.Annotations() != nil {
		t.Error("expected a removed Node to have no annotations")
	}
}

func TestAWriteIsOnePatchThatNoticesConflicts(t *testing.T) {
	s := clustertest.New(t)
	s.Node[machineorder.OrderAnnotation], s.Node[machineorder.Reason] = `{"a/b":"~"}`, "because"
	c, _ := client(t, s, clock.RealClock{})
	if err := c.Write(t.Context(), map[string]string{machineorder.State: "Done"}); c.Annotations() == nil && err == nil {
		t.Error("expected no write before the Node was seen")
	}
	await(t, "the Node to be seen", func() bool { return c.Annotations() != nil })
	before := s.Count("PATCH")
	must(t, c.Write(t.Context(), map[string]string{machineorder.State: "Done", machineorder.Reason: "", machineorder.DesiredDrain: ""}))
	if got := c.Annotations(); got[machineorder.State] != "Done" || got[machineorder.Reason] != "" || got["a"] != "1" {
		t.Errorf("expected the result to be known at once, got %v", got)
	}
	s.Node[machineorder.OrderAnnotation] = "another"
	if err := c.Write(t.Context(), map[string]string{machineorder.State: "Working"}); err == nil || s.Node[machineorder.State] != "Done" {
		t.Errorf("expected a write about an old order to be refused, got %v", err)
	}
	s.Node[machineorder.OrderAnnotation], s.Node[machineorder.State] = `{"a/b":"~"}`, "another agent"
	if err := c.Write(t.Context(), map[string]string{machineorder.State: "Working"}); err == nil {
		t.Error("expected the write of another agent to be noticed")
	}
	if n := s.Count("PATCH") - before; n != 3 {
		t.Errorf("expected one patch for each of 3 writes, got %d", n)
	}
}

func TestAnEmptyOrderDoesNotPreventReports(t *testing.T) {
	s := clustertest.New(t)
	s.Node[machineorder.OrderAnnotation] = ""
	c, _ := client(t, s, clock.RealClock{})
	await(t, "the Node to be seen", func() bool { return c.Annotations() != nil })
	if err := c.Write(t.Context(), map[string]string{machineorder.State: "Degraded"}); err != nil || s.Node[machineorder.State] != "Degraded" {
		t.Errorf("expected the agent to report that the order is empty, got %v", err)
	}
	s.Node[machineorder.OrderAnnotation] = "another"
	if err := c.Write(t.Context(), map[string]string{machineorder.State: "Done"}); err == nil {
		t.Error("expected a report on the empty order to be refused after another order")
	}
}

func TestAMissingSecretIsARefusalAndAnOutageIsNot(t *testing.T) {
	s := clustertest.New(t)
	s.Secrets["good"], s.Secrets["empty"] = map[string][]byte{machineorder.SecretKey: []byte("content")}, nil
	c, _ := client(t, s, clock.RealClock{})
	if got, err := c.Config(t.Context(), "good"); err != nil || string(got) != "content" {
		t.Errorf("expected the content of the Secret, got %q and %v", got, err)
	}
	for name, want := range map[string]string{"none": "there is no Secret none", "empty": "has no key config"} {
		refusal := (*Refusal)(nil)
		if _, err := c.Config(t.Context(), name); !errors.As(err, &refusal) || !strings.Contains(err.Error(), want) {
			t.Errorf("expected a refusal with %q, got %v", want, err)
		}
	}
	for status, refused := range map[int]bool{http.StatusForbidden: true, http.StatusInternalServerError: false} {
		s.Mutex.Lock()
		s.Status = status
		s.Mutex.Unlock()
		_, err := c.Config(t.Context(), "good")
		if refusal := (*Refusal)(nil); err == nil || errors.As(err, &refusal) != refused {
			t.Errorf("status %d: expected a refusal: %v, got %v", status, refused, err)
		}
	}
}

func TestContactNeedsAnAnswerOfTheAPIServerItself(t *testing.T) {
	s := clustertest.New(t)
	c, dir := client(t, s, clock.RealClock{})
	for status, want := range map[int]bool{0: true, http.StatusForbidden: true, http.StatusUnauthorized: true, http.StatusBadGateway: false, http.StatusServiceUnavailable: false} {
		s.Mutex.Lock()
		s.Status = status
		s.Mutex.Unlock()
		if got := c.Reaches(t.Context()); got != want {
			t.Errorf("status %d: expected contact: %v, got %v", status, want, got)
		}
	}
	s.Status = 0
	must(t, os.Remove(filepath.Join(dir, TokenFile)))
	if !c.Reaches(t.Context()) {
		t.Error("expected an answer that requires a token to be contact")
	}
	c.server.CA = strings.Replace(c.server.CA, "CERTIFICATE", "OTHER", 2)
	if c.Reaches(t.Context()) {
		t.Error("expected a server with another certificate to be no contact")
	}
	c.server.URL = "https://127.0.0.1:1"
	if c.Reaches(t.Context()) {
		t.Error("expected a server that is down to be no contact")
	}
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	s := clustertest.New(t)
	start := time.Now().Truncate(time.Second)
	fake := testclock.NewFakeClock(start)
	c, dir := client(t, s, fake)
	await(t, "the Node to be seen", func() bool { return c.Annotations() != nil })
	file := filepath.Join(dir, TokenFile)
	must(t, os.WriteFile(file, []byte(clustertest.JWT(start, start.Add(10*time.Hour))), 0o600))
	s.Token = clustertest.JWT(start.Add(8*time.Hour), start.Add(18*time.Hour))
	for _, test := range []struct {
		after, wait time.Duration
		renewed     bool
	}{{0, time.Hour, false}, {7 * time.Hour, 30 * time.Minute, false}, {7*time.Hour + 30*time.Minute, longestWait, true}} {
		fake.SetTime(start.Add(test.after))
		// The client of this test has read the old token file, and sends the token that the server accepts.
		wait, err := c.keepToken(t.Context())
		must(t, err)
		content, err := os.ReadFile(file)
		must(t, err)
		if renewed := string(content) == s.Token; wait != test.wait || renewed != test.renewed {
			t.Errorf("after %s: expected to wait %s (renewed: %v), got %s and %v", test.after, test.wait, test.renewed, wait, renewed)
		}
	}
	if len(s.Requests) != 1 || !strings.Contains(s.Requests[0], `"kind":"Node"`) || !strings.Contains(s.Requests[0], `"uid":"uid-a"`) || !strings.Contains(s.Requests[0], `"expirationSeconds":36000`) {
		t.Errorf("expected one request for a token that is bound to the Node, got %v", s.Requests)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("expected only root to read the token, got %v, %v", info.Mode(), err)
	}
}

func TestATokenThatCannotBeReadIsKept(t *testing.T) {
	s := clustertest.New(t)
	start := time.Now()
	c, dir := client(t, s, testclock.NewFakeClock(start))
	await(t, "the Node to be seen", func() bool { return c.Annotations() != nil })
	if wait, err := c.keepToken(t.Context()); err == nil || wait != renewRetry {
		t.Errorf("expected an opaque token to be reported, got %s and %v", wait, err)
	}
	old := clustertest.JWT(start.Add(-time.Hour), start.Add(time.Minute))
	must(t, os.WriteFile(filepath.Join(dir, TokenFile), []byte(old), 0o600))
	s.Token = "hostile"
	if _, err := c.keepToken(t.Context()); err == nil {
		t.Error("expected a token without claims to be refused")
	}
	if content, _ := os.ReadFile(filepath.Join(dir, TokenFile)); string(content) != old {
		t.Errorf("expected the old token to stay, got %q", content)
	}
	for _, text := range []string{"", "a.b", "a.!.c", "a.e30.c", "a.eyJpYXQiOjIsImV4cCI6MX0.c"} {
		if _, err := parseLifetime(text); err == nil {
			t.Errorf("%q: expected an error", text)
		}
	}
}

func TestWrongCredentialsAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"": "read the address", `{"url":"http://a","ca":"b","node":"c"}`: "must begin with https://", `{"url":"https://a","ca":"b","node":"c","more":1}`: "unknown field",
	} {
		if _, err := ParseServer([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: expected an error with %q, got %v", text, want, err)
		}
	}
	if _, err := New(t.TempDir(), clock.RealClock{}, nil); err == nil {
		t.Error("expected missing credentials to be an error")
	}
}

func TestTheInstallerGetsATokenThatIsBoundToTheNode(t *testing.T) {
	s := clustertest.New(t)
	s.Token = clustertest.JWT(time.Now(), time.Now().Add(FirstLifetime))
	dir := s.Credentials(t)
	server, err := Load(dir)
	must(t, err)
	got, err := FirstToken(t.Context(), server, filepath.Join(dir, TokenFile))
	if err != nil || got != s.Token || !strings.Contains(s.Requests[0], `"name":"node-a","uid":"uid-a"`) {
		t.Errorf("expected a token for the Node, got %q, %v and %v", got, err, s.Requests)
	}
}
