// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// load sends requests with a valid password all the time, and counts them.
type load struct {
	answered, failed atomic.Int64
	last             atomic.Value
	stop             context.CancelFunc
	done             sync.WaitGroup
	between          sync.RWMutex // each request holds a read lock, so that the test can wait between requests
}

func (f *fixture) load(clients int, password func() string) *load {
	ctx, stop := context.WithCancel(f.t.Context())
	l := &load{stop: stop}
	for range clients {
		l.done.Go(func() {
			for ctx.Err() == nil {
				l.between.RLock()
				l.one(f, password())
				l.between.RUnlock()
			}
		})
	}
	f.t.Cleanup(l.end)
	return l
}

func (l *load) one(f *fixture, password string) {
	a, err := f.do(f.request("ada", password))
	if err != nil || a.code != http.StatusOK {
		l.failed.Add(1)
		l.last.Store(fmt.Sprintf("%d %s %v", a.code, a.body, err))
	}
	l.answered.Add(1)
}

func (l *load) end() {
	l.stop()
	l.done.Wait()
}

// more waits until n more requests are completed.
func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	begin := l.answered.Load()
	eventually.True(t, patience, "requests are answered", func() error {
		if got := l.answered.Load() - begin; got < n {
			return fmt.Errorf("%d of %d", got, n)
		}
		return nil
	})
}

func (l *load) expectNoneFailed(t *testing.T) {
	t.Helper()
	l.end()
	t.Logf("%d requests, %d failed", l.answered.Load(), l.failed.Load())
	if l.failed.Load() != 0 {
		t.Errorf("%d of %d failed, the last with %v", l.failed.Load(), l.answered.Load(), l.last.Load())
	}
}

func TestAPasswordIsChangedUnderLoadWithoutAFailedRequest(t *testing.T) {
	f := start(t, echo())
	var password atomic.Value
	password.Store("1")
	l := f.load(8, func() string { return password.Load().(string) })
	l.more(t, 100)
	for i := range 5 {
		old, fresh := password.Load().(string), fmt.Sprint("new", i)
		f.secret.put(t, "htpasswd", hashed(t, "ada", old)+hashed(t, "ada", fresh))
		f.reload("both passwords are valid", f.loaded(2))
		l.more(t, 50)
		l.between.Lock() // waits until the last requests with the old password end
		password.Store(fresh)
		l.between.Unlock()
		l.more(t, 50)
		f.secret.put(t, "htpasswd", hashed(t, "ada", fresh))
		f.reload("the new password is valid only", f.loaded(1))
		f.expectCode(f.get("ada", old), http.StatusUnauthorized)
	}
	l.expectNoneFailed(t)
}

func (f *fixture) loaded(lines int) func() error {
	return func() error {
		if got := f.store.current.Load().count; got != lines {
			return fmt.Errorf("%d lines are in force", got)
		}
		return nil
	}
}

func TestNoRequestFailsWhileTheProxyGoes(t *testing.T) {
	f := start(t, echo())
	l := f.load(8, func() string { return "1" })
	l.more(t, 100)
	f.goUnder(t, l)
	if a := f.get("ada", "1"); !a.closed {
		t.Errorf("the client is not asked to reconnect: %v", a.header)
	}
	l.expectNoneFailed(t) // clients stop using the proxy before its drain time ends
	f.end()
}

func TestNoRequestOverHTTP2FailsWhileTheProxyGoes(t *testing.T) {
	f := start(t, echo())
	f.client = h2cClient()
	l := f.load(8, func() string { return "1" })
	l.more(t, 100)
	f.goUnder(t, l)
	l.expectNoneFailed(t)
}

// goUnder starts the shutdown of the proxy, and returns after many more requests are completed.
func (f *fixture) goUnder(t *testing.T, l *load) {
	t.Helper()
	f.stop()
	eventually.True(t, patience, "the proxy is not ready", func() error {
		if f.probe("/readyz").code == http.StatusOK {
			return errors.New("it is")
		}
		return nil
	})
	l.more(t, 200)
}

func TestARequestInFlightIsAnsweredAfterTheDrain(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	f := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(inside)
		<-release
		_, _ = io.WriteString(w, "at last")
	}))
	answers := make(chan string, 1)
	go func() {
		a, err := f.do(f.request("ada", "1"))
		answers <- fmt.Sprint(a.code, a.body, err)
	}()
	<-inside
	f.stop()
	f.passDrain()
	close(release)
	if got := <-answers; got != "200at last<nil>" {
		t.Errorf("the request ended with %s", got)
	}
}

// passDrain waits until the drain time has passed and the proxy accepts no more connections.
func (f *fixture) passDrain() {
	f.t.Helper()
	eventually.True(f.t, patience, "the port is closed", func() error {
		f.clock.Step(time.Minute)
		r := f.request("", "")
		r.Close = true
		if _, err := f.do(r); err == nil {
			return errors.New("it is open")
		}
		return nil
	})
}

func TestAWebsocketOutlivesTheDrainAndIsClosedInTheEnd(t *testing.T) {
	f := start(t, tunnel())
	socket := f.websocket()
	f.stop()
	eventually.True(t, patience, "the proxy goes", func() error {
		if !f.health.draining.Load() {
			return errors.New("not yet")
		}
		return nil
	})
	_, err := io.WriteString(socket, "still here\n")
	must(t, err)
	expectLine(t, socket, "ada says still here\n")
	f.end()
	if rest, err := io.ReadAll(socket); len(rest) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("ended with %q, %v", rest, err)
	}
}

func TestARequestThatNeverEndsIsCut(t *testing.T) {
	f := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		func(o *Options) { o.Shutdown = time.Millisecond })
	ended := make(chan error, 1)
	go func() {
		_, err := f.do(f.request("ada", "1"))
		ended <- err
	}()
	eventually.True(t, patience, "the request is in work", func() error {
		if f.metrics.inFlight.Load() == 0 {
			return errors.New("not yet")
		}
		return nil
	})
	f.end()
	if err := <-ended; err == nil {
		t.Error("the request was answered")
	}
}

func TestASlowHeaderIsCutAndASlowBodyIsNot(t *testing.T) {
	f := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprint(w, string(body), err)
	}), func(o *Options) { o.ReadHeaderTimeout = 2 * time.Second })
	slow, upload := f.dial(), f.dial()
	_, err := io.WriteString(upload, "PUT / HTTP/1.0\r\nHost: x\r\nAuthorization: Basic YWRhOjE=\r\nContent-Length: 2\r\n\r\na")
	must(t, err)
	_, err = io.WriteString(slow, "GET / HTTP/1.1\r\nHost:")
	must(t, err)
	if rest, err := io.ReadAll(slow); strings.Contains(string(rest), "200") {
		t.Errorf("the slow header ended with %q, %v", rest, err)
	}
	_, err = io.WriteString(upload, "b")
	must(t, err)
	if rest, err := io.ReadAll(upload); !strings.HasSuffix(string(rest), "ab<nil>") {
		t.Errorf("the slow body ended with %q, %v", rest, err)
	}
}

func TestAHeaderThatIsTooLargeIsRefused(t *testing.T) {
	f := start(t, echo())
	r := f.request("ada", "1")
	r.Header.Set("X-Large", strings.Repeat("x", 100<<10))
	a, err := f.do(r)
	must(t, err)
	f.expectCode(a, http.StatusRequestHeaderFieldsTooLarge)
}

func TestAPortThatIsTakenIsAnError(t *testing.T) {
	f := start(t, echo())
	options := f.options
	options.Routes = []Route{{Upstream: 1}, {Listen: portOf(t, f.url()), Upstream: 1}}
	if _, err := New(options, f.clock, f.log); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the error is %v", err)
	}
}
