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

// pause is the time between two requests of a client. An address has 28,000 ports, and a node remembers a closed
// connection for two minutes. With thousands of requests per second, a client would reuse a port that the node still
// forwards to a deleted pod.
const pause = 5 * time.Millisecond

// newcomers opens a connection for every request, like new clients.
var newcomers = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// fetchPage gets a page and expects words in it.
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

// traffic is a stream of requests that must all succeed.
type traffic struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
	asked  atomic.Int64
	mu     sync.Mutex
	failed []string
}

// startTraffic starts a client for each function, which calls it repeatedly until stop is called or the test ends.
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
		// A request that has started is completed.
		if err := ask(context.WithoutCancel(ctx)); err != nil {
			f.mu.Lock()
			f.failed = append(f.failed, time.Now().Format("15:04:05.000 ")+err.Error())
			f.mu.Unlock()
		}
		f.asked.Add(1)
		time.Sleep(pause)
	}
}

// stop ends the traffic and expects that no request failed.
func (f *traffic) stop(t *testing.T, during string) {
	t.Helper()
	f.cancel()
	f.wg.Wait()
	t.Logf("during %s: %d requests, %d failed", during, f.asked.Load(), len(f.failed))
	if f.asked.Load() < 20 {
		t.Errorf("during %s only %d requests were made", during, f.asked.Load())
	}
	if n := len(f.failed); n > 0 {
		t.Errorf("during %s %d of %d requests failed, the first: %s", during, n, f.asked.Load(), strings.Join(f.failed[:min(n, 10)], "\n"))
	}
}

// visitors fetch pages at some addresses, with a new connection every time.
func visitors(words string, urls ...string) []func(context.Context) error {
	var asks []func(context.Context) error
	for _, url := range urls {
		asks = append(asks, func(ctx context.Context) error { return fetchPage(ctx, url, words) })
	}
	return asks
}
