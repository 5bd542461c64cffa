// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	patience = 20 * time.Second
	shaOfOne = "{SHA}NWoZK3kTsExUV00Ywo1G5jlUKKs=" // hash of the password "1"
)

// hashed returns an htpasswd line with the cheapest bcrypt hash of a password.
func hashed(t testing.TB, user, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return user + ":" + string(hash) + "\n"
}

// secret is a simulated mount of a Secret.
type secret struct {
	dir      string
	versions int
}

func newSecret(t testing.TB, text string) *secret {
	t.Helper()
	s := &secret{dir: t.TempDir()}
	s.put(t, "htpasswd", text)
	return s
}

// put updates one key in the way a kubelet does: it writes a new directory, and then changes a symlink.
func (s *secret) put(t testing.TB, key, text string) {
	t.Helper()
	s.versions++
	version := fmt.Sprintf("..version_%d", s.versions)
	path := func(name string) string { return filepath.Join(s.dir, name) }
	must(t, os.Mkdir(path(version), 0o755))
	must(t, os.WriteFile(path(version+"/"+key), []byte(text), 0o600))
	must(t, os.Symlink(version, path("..data_tmp")))
	must(t, os.Rename(path("..data_tmp"), path("..data")))
	if err := os.Symlink("..data/"+key, path(key)); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	must(t, os.RemoveAll(path(fmt.Sprintf("..version_%d", s.versions-1))))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixture is a running proxy in front of a test application.
type fixture struct {
	*Proxy
	t      testing.TB
	clock  *clocktesting.FakeClock
	secret *secret
	client *http.Client
	logs   *lockedBuffer
	stop   context.CancelFunc
	ended  chan error
}

// start runs a proxy with the user ada and the password 1.
func start(t testing.TB, app http.Handler, change ...func(*Options)) *fixture {
	t.Helper()
	upstream := httptest.NewServer(app)
	t.Cleanup(upstream.Close)
	f := &fixture{t: t, secret: newSecret(t, hashed(t, "ada", "1")), clock: clocktesting.NewFakeClock(time.Now()), logs: &lockedBuffer{}, ended: make(chan error, 1)}
	f.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}, Timeout: patience}
	t.Cleanup(f.client.CloseIdleConnections)
	options := Defaults()
	options.Address, options.Health, options.Credentials = "127.0.0.1", 0, []string{f.secret.dir}
	options.Routes = []Route{{Upstream: portOf(t, upstream.URL)}}
	for _, c := range change {
		c(&options)
	}
	var err error
	f.Proxy, err = New(options, f.clock, slog.New(slog.NewJSONHandler(f.logs, nil)))
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	f.stop = stop
	go func() { f.ended <- f.Run(ctx) }()
	t.Cleanup(f.end)
	return f
}

// end stops the proxy after its drain time. It also runs as a cleanup, after the test's context has ended.
func (f *fixture) end() {
	f.t.Helper()
	f.stop()
	for deadline := time.After(patience); ; {
		f.clock.Step(time.Minute)
		select {
		case err := <-f.ended:
			f.ended <- err
			must(f.t, err)
			return
		case <-deadline:
			f.t.Fatal("the proxy does not end")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (f *fixture) url() string       { return "http://" + f.routes[0].listener.Addr().String() }
func (f *fixture) healthURL() string { return "http://" + f.probes.listener.Addr().String() }

// reload makes the proxy read its credentials until check succeeds.
func (f *fixture) reload(expectation string, check func() error) {
	f.t.Helper()
	eventually.True(f.t, patience, expectation, func() error {
		f.clock.Step(pollInterval)
		return check()
	})
}

type answer struct {
	code   int
	header http.Header
	body   string
	closed bool // whether the proxy asked the client to close its connection
}

func (f *fixture) request(user, password string) *http.Request {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url()+"/", http.NoBody)
	must(f.t, err)
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	return r
}

func (f *fixture) do(r *http.Request) (answer, error) {
	response, err := f.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body), response.Close}, err
}

func (f *fixture) get(user, password string) answer {
	f.t.Helper()
	a, err := f.do(f.request(user, password))
	must(f.t, err)
	return a
}

func (f *fixture) probe(path string) answer {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.healthURL()+path, http.NoBody)
	must(f.t, err)
	a, err := f.do(r)
	must(f.t, err)
	return a
}

func (f *fixture) expectCode(a answer, want int) {
	f.t.Helper()
	if a.code != want {
		f.t.Fatalf("answered %d %q, expected %d", a.code, a.body, want)
	}
}

func portOf(t testing.TB, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	_, text, err := net.SplitHostPort(u.Host)
	must(t, err)
	port, err := strconv.Atoi(text)
	must(t, err)
	return port
}

// lockedBuffer is a buffer that is safe for concurrent writes.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// echo returns an application that responds with the headers of the request.
func echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.Header.Write(w)
		fmt.Fprintf(w, "Host: %s\r\nURI: %s\r\nProtocol: %s\r\n", r.Host, r.RequestURI, r.Proto)
	})
}
