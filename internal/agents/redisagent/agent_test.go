// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/limiter"
	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestAPodIsReadyWhileItsServersHaveTheirRoles(t *testing.T) {
	a := start(t, nil)
	home, guest := a.pod.Home, a.pod.Guest
	a.ready("home does not respond")
	home.Start()
	a.ready("home has no slots")
	a.ready("guest does not respond")
	guest.Start()
	a.ready("guest is not a replica")
	a.form()
	a.ready("")

	lead(guest)
	a.ready("home is a replica, so another server is the primary of its shard")
	a.ready("guest is not a replica")
	home.Until("master_link_status:up", "INFO", "replication")
	lead(home)
	a.ready("")

	guest.Stop(syscall.SIGKILL)
	a.ready("guest does not respond")
	guest.Start()
	a.ready("")
	home.Do("CONFIG", "SET", "masterauth", "wrong") // masterauth has no effect on a primary
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
		t.Errorf("another path gives a different answer without a password: %+v", got)
	}
	if got := a.page("/secret", redistest.Username, redistest.Password); got.code != http.StatusNotFound {
		t.Errorf("another path: %+v", got)
	}
	expect(redistest.Username, redistest.Password, http.StatusOK) // the page works although no server is running
	expect(redistest.Username, "wrong", http.StatusUnauthorized)
	expect("opcrew", redistest.SystemPassword, http.StatusUnauthorized)
	expect("default", redistest.Password, http.StatusUnauthorized)

	a.pod.Accept("old", "new")
	expect(redistest.Username, redistest.Password, http.StatusUnauthorized)
	expect(redistest.Username, "old", http.StatusOK)
	expect(redistest.Username, "new", http.StatusOK)
}

func TestGuessingPasswordsIsLimited(t *testing.T) {
	a := start(t, nil)
	heard, begin := 0, time.Now()
	for i := range 2 * limiter.FailuresAtOnce {
		if a.page("/", redistest.Username, strconv.Itoa(i)).code != http.StatusTooManyRequests {
			heard++
		}
	}
	if most := limiter.FailuresAtOnce + int(time.Since(begin).Seconds()) + 1; heard > most { // the limit allows one more attempt per second
		t.Errorf("expected at most %d guesses to be checked, got %d", most, heard)
	}
}

func TestEveryRequestIsRefusedWithoutSecrets(t *testing.T) {
	a := start(t, nil)
	if err := os.RemoveAll(a.pod.Secrets); err != nil {
		t.Fatal(err)
	}
	if got := a.page("/", redistest.Username, redistest.Password); got.code != http.StatusServiceUnavailable {
		t.Errorf("got %+v", got)
	}
	a.ready("home does not respond: read a secret")
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

// A slow or endless request must not block other clients or use up memory.
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
	silent, err := net.Dial("tcp", local(a.o.Page)) // this client connects, and then sends nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
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
