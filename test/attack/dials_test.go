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

// dials records the etcd endpoints that contain an IP address, because the operator would connect to that address. For
// an endpoint with a host name, the operator connects to an address of a pod instead. No etcd member answers.
type dials struct {
	mu        sync.Mutex
	endpoints []string
	world     etcdtest.World
}

func (d *dials) etcd(target etcd.Target) (etcd.Store, error) {
	d.mu.Lock()
	for _, endpoint := range target.Endpoints {
		// For an endpoint with a host name, the operator connects to an address in Target.Addresses instead.
		if at, err := url.Parse(endpoint); err != nil || net.ParseIP(at.Hostname()) != nil {
			d.endpoints = append(d.endpoints, endpoint)
		}
	}
	d.mu.Unlock()
	return d.world.Dial(target)
}

// to describes a recorded connection that the operator opened for a cluster in namespace ns to a host whose name
// contains words. It returns "" if there is none.
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

// until waits until check returns nil.
func (w *world) until(what string, check func() error) {
	w.Helper()
	eventually.True(w, patience, what, check)
}
