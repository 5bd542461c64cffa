// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/helper/limiter"
	"github.com/opcrew/opcrew/internal/helper/redistest"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

const waiting = 30 * time.Second

// agent is a running one, of a pod whose servers may run or not.
type agent struct {
	*testing.T
	pod *redistest.Pod
	o   Options
}

func start(t *testing.T, change func(*Options)) *agent {
	t.Helper()
	pod := redistest.New(t)
	o := Options{
		Cluster: "shop", Secrets: pod.Secrets, Home: pod.Home.Port, Guest: pod.Guest.Port,
		Probes: redistest.FreePort(t), Metrics: redistest.FreePort(t), Page: redistest.FreePort(t), Names: []string{"shop-ui.web.svc"},
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o, clock.RealClock{}, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the agent ended: %v", err)
		}
	})
	a := &agent{t, pod, o}
	eventually.True(t, waiting, "the agent lives", func() error {
		_, err := get(http.DefaultClient, "http://"+local(o.Probes)+"/live", "", "")
		return err
	})
	return a
}

// answer is of one request.
type answer struct {
	code   int
	header http.Header
	text   string
}

func get(client *http.Client, url, user, password string) (answer, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return answer{}, err
	}
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	got, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return answer{got.StatusCode, got.Header, string(text)}, err
}

func trusting() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

// page asks for the page, or another path.
func (a *agent) page(path, user, password string) answer {
	a.Helper()
	got, err := get(trusting(), "https://"+local(a.o.Page)+path, user, password)
	if err != nil {
		a.Fatal(err)
	}
	return got
}

// ready waits until the pod is said to be ready, or not for a reason.
func (a *agent) ready(reason string) {
	a.Helper()
	eventually.True(a.T, waiting, "the pod is ready, or not since "+reason, func() error {
		got, err := get(http.DefaultClient, "http://"+local(a.o.Probes)+"/ready", "", "")
		switch {
		case err != nil:
			return err
		case reason == "" && got.code == http.StatusOK, reason != "" && got.code == http.StatusServiceUnavailable && strings.Contains(got.text, reason):
			return nil
		}
		return errors.New(got.text)
	})
}

// form makes a ring of the one pod: its guest is the replica of its own home.
func (a *agent) form() {
	a.Helper()
	home, guest := a.pod.Home, a.pod.Guest
	home.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	guest.Do("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(home.Port))
	id := home.Do("CLUSTER", "MYID")
	guest.Until(id, "CLUSTER", "NODES")
	guest.Do("CLUSTER", "REPLICATE", id)
	guest.Until("master_link_status:up", "INFO", "replication")
}

// lead makes a replica the primary. That it is told so means that it tries: a try can come to
// nothing, and is given up after five seconds.
func lead(s *redistest.Server) {
	var asked time.Time
	s.Eventually("a replica becomes the primary", func() error {
		if strings.Contains(s.Do("INFO", "replication"), "role:master") {
			return nil
		}
		if time.Since(asked) > 6*time.Second {
			asked = time.Now()
			s.Do("CLUSTER", "FAILOVER")
		}
		return errors.New("it is a replica")
	})
}

func TestAPodIsReadyWhileItsServersHaveTheirRoles(t *testing.T) {
	a := start(t, nil)
	home, guest := a.pod.Home, a.pod.Guest
	a.ready("home does not answer")
	home.Start()
	a.ready("home has no slots")
	a.ready("guest does not answer")
	guest.Start()
	a.ready("guest is no replica")
	a.form()
	a.ready("")

	lead(guest)
	a.ready("home is a replica: its shard is led elsewhere")
	a.ready("guest is no replica")
	home.Until("master_link_status:up", "INFO", "replication")
	lead(home)
	a.ready("")

	guest.Stop(syscall.SIGKILL)
	a.ready("guest does not answer")
	guest.Start()
	a.ready("")
	home.Do("CONFIG", "SET", "masterauth", "wrong") // of no effect on a primary
	guest.Do("CONFIG", "SET", "masterauth", "wrong")
	guest.Do("CLIENT", "KILL", "TYPE", "master")
	a.ready("guest has no link to its primary")
}

func TestThePageAndTheMetricsShowTheRing(t *testing.T) {
	a := start(t, nil)
	a.pod.Home.Start("--memory-limit=104857600", "--announce-hostname=shop-0.shop.web.svc")
	a.pod.Guest.Start("--announce-hostname=shop-0.shop.web.svc")
	a.form()
	a.pod.Home.Until("cluster_state:ok", "CLUSTER", "INFO")
	a.pod.Home.Do("SET", "a", "b")
	eventually.True(t, waiting, "the page shows both servers with what they have", func() error {
		got := a.page("/", redistest.Username, redistest.Password)
		for _, word := range []string{"<td>home<td>primary<td>0-16383<td><td>1<td>", "<td>75.0 MiB<td>", "<td>guest<td>replica<td><td>shop-0 home<td>1<td>", "<td>0 B<td>\n"} {
			if got.code != http.StatusOK || !strings.Contains(got.text, word) {
				return fmt.Errorf("expected %q, got %d %s", word, got.code, got.text)
			}
		}
		return nil
	})
	metrics, err := get(http.DefaultClient, "http://"+local(a.o.Metrics)+"/metrics", "", "")
	if err != nil || !strings.Contains(metrics.text, `opcrew_redis_keys{place="guest"} 1`) || strings.Contains(metrics.text, redistest.SystemPassword) {
		t.Errorf("got %s, error %v", metrics.text, err)
	}
}

func TestThePageIsOnlyForThoseWithAValidPassword(t *testing.T) {
	a := start(t, nil)
	expect := func(user, password string, want int) {
		t.Helper()
		if got := a.page("/", user, password); got.code != want {
			t.Errorf("%s with %q gets %d %s, expected %d", user, password, got.code, got.text, want)
		}
	}
	if got := a.page("/", "", ""); got.code != http.StatusUnauthorized || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Basic ") || strings.Contains(got.text, "shop") {
		t.Errorf("without a password: %+v", got)
	}
	if got := a.page("/secret", "", ""); got.code != http.StatusUnauthorized {
		t.Errorf("another path is told apart without a password: %+v", got)
	}
	if got := a.page("/secret", redistest.Username, redistest.Password); got.code != http.StatusNotFound {
		t.Errorf("another path: %+v", got)
	}
	expect(redistest.Username, redistest.Password, http.StatusOK) // though no server runs
	expect(redistest.Username, "wrong", http.StatusUnauthorized)
	expect("opcrew", redistest.SystemPassword, http.StatusUnauthorized)
	expect("default", redistest.Password, http.StatusUnauthorized)

	a.pod.Accept("old", "new")
	expect(redistest.Username, redistest.Password, http.StatusUnauthorized)
	expect(redistest.Username, "old", http.StatusOK)
	expect(redistest.Username, "new", http.StatusOK)
}

func TestWhoGuessesPasswordsIsSlowedDown(t *testing.T) {
	a := start(t, nil)
	last := 0
	for i := range 2 * limiter.FailuresAtOnce {
		last = a.page("/", redistest.Username, strconv.Itoa(i)).code
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after %d guesses the answer is %d", 2*limiter.FailuresAtOnce, last)
	}
}

func TestNobodyIsLetInWithoutSecrets(t *testing.T) {
	a := start(t, nil)
	if err := os.RemoveAll(a.pod.Secrets); err != nil {
		t.Fatal(err)
	}
	if got := a.page("/", redistest.Username, redistest.Password); got.code != http.StatusServiceUnavailable {
		t.Errorf("got %+v", got)
	}
	a.ready("home does not answer: read a secret")
}

func TestThePageOnlyShows(t *testing.T) {
	a := start(t, nil)
	request, err := http.NewRequest(http.MethodPost, "https://"+local(a.o.Page)+"/", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(redistest.Username, redistest.Password)
	got, err := trusting().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusMethodNotAllowed || !strings.Contains(got.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got %s, %v", got.Status, got.Header)
	}
}

// What a client sends slowly or without end must not cost others the page, nor memory.
func TestHostileClientsAreCutOff(t *testing.T) {
	a := start(t, nil)
	dial := func() *tls.Conn {
		t.Helper()
		conn, err := tls.Dial("tcp", local(a.o.Page), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	huge := dial()
	fmt.Fprintf(huge, "GET / HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n", strings.Repeat("x", 64<<10))
	if got, err := http.ReadResponse(bufio.NewReader(huge), nil); err != nil || got.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("huge headers: %v, error %v", got, err)
	}
	slow := dial()
	fmt.Fprint(slow, "GET / HTTP/1.1\r\n")
	silent, err := net.Dial("tcp", local(a.o.Page)) // not even TLS
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if got := a.page("/", redistest.Username, redistest.Password); got.code != http.StatusOK {
		t.Errorf("beside slow clients: %+v", got)
	}
	for name, conn := range map[string]net.Conn{"slow": slow, "silent": silent} {
		_ = conn.SetReadDeadline(time.Now().Add(waiting))
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a client that is %s is not cut off: %v", name, err)
		}
	}
}
