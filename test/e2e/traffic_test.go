// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pause is the time between two requests of a client. A client address has 28,000 ports, and a node remembers a closed
// connection for two minutes. With thousands of requests per second, a client would reuse a port for which the node
// still forwards packets to a deleted pod.
const pause = 5 * time.Millisecond

// newcomers is an HTTP client that opens a new connection for every request, as new users of a service would.
var newcomers = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// fetchPage requests a page, and returns an error unless the page contains the given text.
func fetchPage(ctx context.Context, url, words string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := newcomers.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(page), words) {
		return fmt.Errorf("%s answers %s: %.100q", url, answer.Status, page)
	}
	return nil
}

// traffic sends a stream of requests, all of which must succeed.
type traffic struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
	asked  atomic.Int64
	mu     sync.Mutex
	failed []string
}

// startTraffic starts one goroutine for each function. The goroutine calls the function repeatedly until stop is called
// or the test ends.
func startTraffic(t *testing.T, asks ...func(context.Context) error) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	f := &traffic{cancel: cancel}
	t.Cleanup(cancel)
	for _, ask := range asks {
		f.wg.Go(func() { f.keepAsking(ctx, ask) })
	}
	return f
}

func (f *traffic) keepAsking(ctx context.Context, ask func(context.Context) error) {
	for ctx.Err() == nil {
		// Complete a request that has started, even if the traffic is being stopped.
		if err := ask(context.WithoutCancel(ctx)); err != nil {
			f.mu.Lock()
			f.failed = append(f.failed, time.Now().Format("15:04:05.000 ")+err.Error())
			f.mu.Unlock()
		}
		f.asked.Add(1)
		time.Sleep(pause)
	}
}

// stop ends the traffic, and fails the test if a request failed.
func (f *traffic) stop(t *testing.T, during string) {
	t.Helper()
	f.cancel()
	f.wg.Wait()
	t.Logf("during %s: %d requests, %d failed", during, f.asked.Load(), len(f.failed))
	if f.asked.Load() < 20 {
		t.Errorf("during %s, only %d requests were made", during, f.asked.Load())
	}
	if n := len(f.failed); n > 0 {
		t.Errorf("during %s, %d of %d requests failed, the first: %s", during, n, f.asked.Load(), strings.Join(f.failed[:min(n, 10)], "\n"))
	}
}

// visitors returns functions that request a page at the given URLs, with a new connection for each request.
func visitors(words string, urls ...string) []func(context.Context) error {
	var asks []func(context.Context) error
	for _, url := range urls {
		asks = append(asks, func(ctx context.Context) error { return fetchPage(ctx, url, words) })
	}
	return asks
}
