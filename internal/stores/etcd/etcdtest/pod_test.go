// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

func peerURL(name string) string { return "http://" + name + ":2380" }

func clientURL(name string) string { return "http://" + name + ":2379" }

// pod returns the etcd process of a pod with its own volume.
func pod(name string, existing bool, initial ...string) Process {
	var flag []string
	for _, n := range initial {
		flag = append(flag, n+"="+peerURL(n))
	}
	return Process{
		Name: name, PeerURL: peerURL(name), ClientURL: clientURL(name), Volume: name,
		InitialCluster: strings.Join(flag, ","), Token: "t", Existing: existing,
	}
}

// formed returns a simulation with one running cluster of members with these names.
func formed(names ...string) *World {
	w := &World{}
	for _, name := range names {
		w.Run(pod(name, false, names...))
	}
	return w
}

func dial(t *testing.T, w *World, names ...string) etcd.Store {
	t.Helper()
	var target etcd.Target
	for _, name := range names {
		target.Endpoints = append(target.Endpoints, clientURL(name))
	}
	store, err := w.Dial(target)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func list(t *testing.T, store etcd.Store) []etcd.Member {
	t.Helper()
	_, members, err := store.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return members
}

// id returns the ID of the member with a name.
func id(t *testing.T, w *World, name string) uint64 {
	t.Helper()
	for _, m := range w.Members("t") {
		if m.PeerURLs[0] == peerURL(name) {
			return m.ID
		}
	}
	t.Fatalf("expected a member %s among %v", name, w.Members("t"))
	return 0
}

func expect(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("expected error %v, got %v", want, err)
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

// wiped returns a process with a new, empty volume.
func wiped(name string, existing bool) Process {
	all := []string{"a", "b", "c"}
	if !existing {
		all = all[:2]
	}
	p := pod(name, existing, all...)
	p.Volume = "new " + name
	return p
}

// runs restarts processes with another version.
func runs(w *World, version string, names ...string) {
	for _, name := range names {
		p := pod(name, false, "a", "b", "c")
		p.Version = version
		w.Run(p)
	}
}
