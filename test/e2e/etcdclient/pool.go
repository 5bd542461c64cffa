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
	// refreshed is how often the client asks the cluster for its members.
	refreshed = time.Second
	// avoided is for how long a member is asked last after it failed.
	avoided = 2 * time.Second
)

// pool is the members that there are to be asked.
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

// set makes the pool these members. Requests to others end without an answer.
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
			_ = s.Close() // what was under way counts as not answered
		}
	}
	return nil
}

// next is the member whose turn it is, of those that did not fail lately if there are any.
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

// refresh follows the cluster's members until ctx ends.
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
			// One that cannot be opened has a URL that makes no sense; the others go on.
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

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
