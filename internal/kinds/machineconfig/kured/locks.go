// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kured reads the lock of kured, a tool that reboots nodes, so that two tools do not reboot nodes at the same
// time.
package kured

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// annotation of kured's DaemonSet has its lock.
	annotation = "weave.works/kured-node-lock"
	// age is how old what is known of the lock may be: the holder of a lock drains its node first. Each reconcile of a
	// node needs it, and there are many of them in an update of many nodes.
	age = time.Second
)

// Locks reads kured's lock from the API server, at most once a second. The zero Locks is ready to use.
type Locks struct {
	mutex sync.Mutex
	at    time.Time
	nodes []string
}

// Holders returns the nodes that hold kured's lock; none if kured is not installed in its namespace.
func (l *Locks) Holders(ctx context.Context, live client.Reader, now clock.PassiveClock) ([]string, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if since := now.Since(l.at); since >= 0 && since < age {
		return l.nodes, nil
	}
	set := &metav1.PartialObjectMetadata{}
	set.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	if err := live.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kured"}, set); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	l.at = now.Now()
	l.nodes = lockedBy(set.Annotations[annotation], l.at)
	return l.nodes, nil
}
