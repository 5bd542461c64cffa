// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// answer is what the scenarios' web application tells; see webapp.
type answer struct {
	Version, Greeting, Config, User, Pod string
	Password                             bool
}

// visitor is a client with a user and a password, or none.
type visitor struct {
	client         *http.Client
	url            string
	user, password string
	host           string // asked for, where it is not that of the URL
}

func newVisitor(url, user, password string) *visitor {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	return &visitor{client: &http.Client{Timeout: 10 * time.Second, Transport: transport}, url: url, user: user, password: password}
}

// visit makes one request.
func (v *visitor) visit(ctx context.Context) (int, answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url, nil)
	if err != nil {
		return 0, answer{}, err
	}
	if v.host != "" {
		request.Host = v.host
	}
	if v.user != "" {
		request.SetBasicAuth(v.user, v.password)
	}
	response, err := v.client.Do(request)
	if err != nil {
		return 0, answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	a := answer{}
	if err == nil && response.StatusCode == http.StatusOK && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		err = json.Unmarshal(body, &a)
	}
	return response.StatusCode, a, err
}

// load is a stream of requests that must all be answered well.
type load struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	total  int
	failed []string
}

// underLoad has several clients make requests, one after another each, until stop.
func underLoad(t *testing.T, v *visitor) *load {
	t.Helper()
	l := &load{}
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(l.cancel)
	for range 4 {
		l.done.Go(func() {
			for ctx.Err() == nil {
				code, _, err := v.visit(ctx)
				if ctx.Err() != nil {
					return
				}
				l.note(code, err)
			}
		})
	}
	return l
}

func (l *load) note(code int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	if err != nil || code != http.StatusOK {
		l.failed = append(l.failed, fmt.Sprintf("%s: %d %v", time.Now().Format("15:04:05.000"), code, err))
	}
}

// stop ends the load, and expects that no request failed.
func (l *load) stop(t *testing.T, while string) {
	t.Helper()
	l.cancel()
	l.done.Wait()
	if len(l.failed) > 0 || l.total < 100 {
		t.Errorf("%s: expected every request to be answered, %d of %d failed:\n%s", while, len(l.failed), l.total, strings.Join(l.failed[:min(len(l.failed), 10)], "\n"))
	}
	t.Logf("%s: %d requests, %d failed", while, l.total, len(l.failed))
}
