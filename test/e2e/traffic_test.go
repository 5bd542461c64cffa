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

// newcomers opens a connection for every request, as clients do that were not there before.
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

// traffic asks for a page at several addresses in turn, without a break.
type traffic struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
	asked  atomic.Int64
	mu     sync.Mutex
	failed []string
}

// startTraffic begins; it also ends with the test.
func startTraffic(t *testing.T, words string, urls ...string) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	f := &traffic{cancel: cancel}
	t.Cleanup(cancel)
	for _, url := range urls {
		f.wg.Go(func() { f.ask(ctx, url, words) })
	}
	return f
}

func (f *traffic) ask(ctx context.Context, url, words string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// A request that has begun is brought to its end.
		if err := fetchPage(context.WithoutCancel(ctx), url, words); err != nil {
			f.mu.Lock()
			f.failed = append(f.failed, time.Now().Format("15:04:05.000 ")+err.Error())
			f.mu.Unlock()
		}
		f.asked.Add(1)
	}
}

// stop ends the traffic and expects that nobody was turned away.
func (f *traffic) stop(t *testing.T, during string) {
	t.Helper()
	f.cancel()
	f.wg.Wait()
	t.Logf("during %s: %d requests, %d failed", during, f.asked.Load(), len(f.failed))
	if f.asked.Load() == 0 {
		t.Errorf("during %s nothing was asked for", during)
	}
	if n := len(f.failed); n > 0 {
		t.Errorf("during %s %d of %d requests failed, the first: %s", during, n, f.asked.Load(), strings.Join(f.failed[:min(n, 5)], "\n"))
	}
}
