// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// refreshed is how often the client reads the list of members from the cluster.
	refreshed = time.Second
	// avoided is how long the client prefers other members after a member has failed.
	avoided = 2 * time.Second
)

// pool is the set of members to which the client sends requests.
type pool struct {
	open func(url string) (Store, error)

	mu     sync.Mutex
	stores map[string]Store
	failed map[string]time.Time
	turn   int
}

func newPool(urls []string, open func(string) (Store, error)) (*pool, error) {
	p := &pool{open: open, stores: map[string]Store{}, failed: map[string]time.Time{}}
	return p, p.set(urls)
}

// set replaces the members of the pool. It closes the connections to members that are no longer in the list, so
// requests in progress on these connections end without a response.
func (p *pool) set(urls []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, url := range urls {
		if p.stores[url] != nil {
			continue
		}
		s, err := p.open(url)
		if err != nil {
			return err
		}
		p.stores[url] = s
	}
	for url, s := range p.stores {
		if !slices.Contains(urls, url) {
			delete(p.stores, url)
			_ = s.Close() // requests in progress count as unanswered
		}
	}
	return nil
}

// next returns the next member in turn. It prefers members that have not failed recently.
func (p *pool) next() (string, Store) {
	p.mu.Lock()
	defer p.mu.Unlock()
	urls := slices.Sorted(maps.Keys(p.stores))
	well := slices.DeleteFunc(slices.Clone(urls), func(url string) bool { return time.Since(p.failed[url]) < avoided })
	if len(well) > 0 {
		urls = well
	}
	p.turn++
	url := urls[p.turn%len(urls)]
	return url, p.stores[url]
}

func (p *pool) fails(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed[url] = time.Now()
}

// refresh regularly reads the members from the cluster and updates the pool, until ctx ends.
func (p *pool) refresh(ctx context.Context, attempt time.Duration) {
	for ctx.Err() == nil {
		url, s := p.next()
		asked, cancel := context.WithTimeout(ctx, attempt)
		urls, err := s.Members(asked)
		cancel()
		switch {
		case err != nil:
			p.fails(url)
		case len(urls) > 0:
			// set returns an error if a member has an invalid URL. It leaves out that member and uses the others.
			_ = p.set(urls)
		}
		pause(ctx, refreshed)
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for url, s := range p.stores {
		delete(p.stores, url)
		_ = s.Close()
	}
}

// pause waits for the given time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
