// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
)

var shop = types.NamespacedName{Namespace: "shop", Name: "db"}

func peerURL(name string) string { return "http://" + name + ":2380" }

func process(name string, existing bool, initial ...string) etcdtest.Process {
	var flag []string
	for _, n := range initial {
		flag = append(flag, n+"="+peerURL(n))
	}
	return etcdtest.Process{
		Name: name, PeerURL: peerURL(name), ClientURL: "http://" + name + ":2379", Volume: name,
		InitialCluster: strings.Join(flag, ","), Token: "t" + initial[0], Existing: existing,
	}
}

func formed(w *etcdtest.World, names ...string) etcd.Target {
	for _, name := range names {
		w.Run(process(name, false, names...))
	}
	return target(names...)
}

func target(names ...string) etcd.Target {
	var out etcd.Target
	for _, name := range names {
		out.Endpoints = append(out.Endpoints, "http://"+name+":2379")
	}
	return out
}

// probing runs a test with a prober in a synctest bubble, which has its own time.
func probing(t *testing.T, dial etcd.Dialer, do func(*testing.T, *etcd.Prober)) {
	synctest.Test(t, func(t *testing.T) {
		p := etcd.NewProber(dial, clock.RealClock{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Start(ctx) }()
		do(t, p)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func view(t *testing.T, p *etcd.Prober, key types.NamespacedName) etcd.View {
	t.Helper()
	v, ok := p.View(key)
	if !ok {
		t.Fatalf("expected %s to have been looked at", key)
	}
	return v
}

// events counts the events of each cluster since the last call.
func events(p *etcd.Prober) map[string]int {
	synctest.Wait()
	out := map[string]int{}
	for {
		select {
		case e := <-p.Events():
			out[e.Object.GetNamespace()+"/"+e.Object.GetName()]++
		default:
			return out
		}
	}
}

// counted counts the calls to simulated clusters, and the connections to them.
type counted struct {
	*etcdtest.World
	dialled, closed, lists, versions atomic.Int64
}

type countedStore struct {
	etcd.Store
	*counted
}

func (c *counted) Dial(target etcd.Target) (etcd.Store, error) {
	c.dialled.Add(1)
	store, err := c.World.Dial(target)
	return &countedStore{store, c}, err
}

func (s *countedStore) Members(ctx context.Context) (uint64, []etcd.Member, error) {
	s.lists.Add(1)
	return s.Store.Members(ctx)
}

func (s *countedStore) ClusterVersion(ctx context.Context, endpoint string) (string, error) {
	s.versions.Add(1)
	return s.Store.ClusterVersion(ctx, endpoint)
}

func (s *countedStore) Close() error {
	s.closed.Add(1)
	return s.Store.Close()
}
