// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// dials records the endpoints that the operator would connect to by name, and not by the address of a pod. No member
// answers.
type dials struct {
	mu        sync.Mutex
	endpoints []string
	world     etcdtest.World
}

func (d *dials) etcd(target etcd.Target) (etcd.Store, error) {
	d.mu.Lock()
	for _, endpoint := range target.Endpoints {
		// A name of a member has no part in where the connection goes, see Target.Addresses.
		if at, err := url.Parse(endpoint); err != nil || net.ParseIP(at.Hostname()) != nil {
			d.endpoints = append(d.endpoints, endpoint)
		}
	}
	d.mu.Unlock()
	return d.world.Dial(target)
}

// to describes a connection of the operator, for a cluster in a namespace, to a host with these words.
func (d *dials) to(ns, words string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, endpoint := range d.endpoints {
		if strings.Contains(endpoint, ns) && strings.Contains(endpoint, words) {
			return fmt.Sprint("the operator connects to ", endpoint)
		}
	}
	return ""
}

// until waits for an expectation.
func (w *world) until(what string, check func() error) {
	w.Helper()
	eventually.True(w, patience, what, check)
}
