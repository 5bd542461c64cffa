// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// troubles carries why a tenant's quota or credentials could not be made to its instances,
// which are the objects that users look at. It lives in memory, since a new process finds
// out again by its first try.
type troubles struct {
	mu       sync.Mutex
	byTenant map[string]string
	wake     chan event.TypedGenericEvent[client.Object]
}

func newTroubles() *troubles {
	return &troubles{byTenant: map[string]string{}, wake: make(chan event.TypedGenericEvent[client.Object], 1024)}
}

// set records the words of a refusal, or with none that all went well, and wakes the
// instances when that is news. Nobody waits here: where there is more news than the channel
// holds, the others see it at their next look.
func (t *troubles) set(ns *corev1.Namespace, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byTenant[ns.Name] == why {
		return
	}
	t.byTenant[ns.Name] = why
	if why == "" {
		delete(t.byTenant, ns.Name)
	}
	child := &corev1.Namespace{}
	child.Namespace = ns.Name // as of what is in it
	select {
	case t.wake <- event.TypedGenericEvent[client.Object]{Object: child}:
	default:
	}
}

func (t *troubles) of(namespace string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byTenant[namespace]
}

func (t *troubles) forget(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byTenant, namespace)
}
