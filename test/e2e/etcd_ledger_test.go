// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// ledger writes numbered keys through the client Service, one after the other. It records when etcd acknowledged each
// write.
type ledger struct {
	e       *etcdTest
	mu      sync.Mutex
	acked   map[int]time.Time
	highest int64 // highest revision that etcd acknowledged
}

const ledgerKeys = "ledger/"

func (e *etcdTest) startLedger(t *testing.T) *ledger {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://any"}, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return e.dialServing(ctx) })},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{e: e, acked: map[int]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		done.Wait()
		_ = c.Close()
	})
	done.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			l.write(ctx, c, n)
		}
	})
	return l
}

// write tries to write one key. If etcd does not acknowledge the write, etcd may or may not have executed it.
func (l *ledger) write(ctx context.Context, c *clientv3.Client, n int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := c.Put(ctx, fmt.Sprint(ledgerKeys, n), "x")
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[n], l.highest = time.Now(), max(l.highest, r.Header.Revision)
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

func (l *ledger) all() map[int]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.acked)
}

// revision returns the highest revision that etcd has acknowledged.
func (l *ledger) revision() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.highest
}

func (l *ledger) awaitMore(t *testing.T, n int) {
	t.Helper()
	goal := l.count() + n
	eventually.True(t, 2*time.Minute, fmt.Sprintf("%d more writes are acknowledged", n), func() error {
		if now := l.count(); now < goal {
			return fmt.Errorf("there are %d writes, expected %d", now, goal)
		}
		return nil
	})
}

// wantBound checks that every acknowledged write exists, except those that the status of a recovery reports as possibly
// lost.
func (l *ledger) wantBound(t *testing.T, at *etcdv1beta2.RestoreProgress) {
	t.Helper()
	var before time.Time
	if _, err := fmt.Sscanf(at.Recovery.MayBeLost, "no write that was acknowledged before %s is lost", (*scanned)(&before)); err != nil {
		t.Fatalf("expected a bound in time, got %q", at.Recovery.MayBeLost)
	}
	acked, there := l.all(), map[string]bool{}
	err := l.e.ask(t, l.e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Get(ctx, ledgerKeys, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err == nil {
			for _, kv := range r.Kvs {
				there[string(kv.Key)] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lost, kept := 0, 0
	for n, when := range acked {
		switch {
		case there[fmt.Sprint(ledgerKeys, n)]:
			kept++
		case when.Before(before):
			t.Errorf("write %d was acknowledged at %s, before the loss at %s, but is missing", n, when.UTC(), before)
		default:
			lost++
		}
	}
	t.Logf("of %d acknowledged writes, %d exist and %d are lost; no lost write is from before %s", len(acked), kept, lost, before)
}

// scanned is a time that fmt.Sscan can parse.
type scanned time.Time

// Scan parses a time in RFC 3339 format.
func (s *scanned) Scan(state fmt.ScanState, _ rune) error {
	token, err := state.Token(true, nil)
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, string(token))
	*s = scanned(at)
	return err
}
