// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// observer watches all objects of a run, independently of the operator and without faults.
type observer struct {
	client    client.WithWatch
	namespace string
	kinds     []schema.GroupVersionKind
	stop      context.CancelFunc

	mu     sync.Mutex
	now    View
	past   history
	count  int // number of events received
	last   time.Time
	broken error
}

// observe starts the observer. It adds all existing objects to first, the initial view, and records no events for them.
func observe(ctx context.Context, c client.WithWatch, first View, kinds []schema.GroupVersionKind) (*observer, error) {
	ctx, stop := context.WithCancel(ctx)
	o := &observer{client: c, namespace: first.namespace, kinds: kinds, stop: stop, last: time.Now()}
	versions := map[schema.GroupVersionKind]string{}
	for _, kind := range kinds {
		list, err := o.list(ctx, kind)
		if err != nil {
			stop()
			return nil, err
		}
		versions[kind] = list.GetResourceVersion()
		for i := range list.Items {
			first.objects[keyOf(&list.Items[i])] = &list.Items[i]
		}
	}
	o.now, o.past = first, history{first: first}
	for _, kind := range kinds {
		go o.follow(ctx, kind, versions[kind])
	}
	return o, nil
}

func (o *observer) list(ctx context.Context, kind schema.GroupVersionKind) (*unstructured.UnstructuredList, error) {
	return listOf(ctx, o.client, kind, o.namespace)
}

func listOf(ctx context.Context, reader client.Reader, kind schema.GroupVersionKind, namespace string) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
	}
	return list, nil
}

// follow watches one kind of objects. If the server ends the watch, follow resumes it at the last version.
func (o *observer) follow(ctx context.Context, kind schema.GroupVersionKind, version string) {
	for ctx.Err() == nil {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		from := &client.ListOptions{Namespace: o.namespace, Raw: &metav1.ListOptions{ResourceVersion: version}}
		w, err := o.client.Watch(ctx, list, from)
		if err != nil {
			o.fail(ctx, fmt.Errorf("watch %s: %w", kind.Kind, err))
			return
		}
		for e := range w.ResultChan() {
			object, ok := e.Object.(*unstructured.Unstructured)
			if e.Type == watch.Error || !ok {
				o.fail(ctx, fmt.Errorf("watch %s: %v", kind.Kind, e.Object))
				return
			}
			version = object.GetResourceVersion()
			o.add(e.Type, object)
		}
	}
}

func (o *observer) fail(ctx context.Context, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() == nil {
		o.broken = err
	}
}

func (o *observer) add(kind watch.EventType, object *unstructured.Unstructured) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := Event{
		Key: keyOf(object), Object: object, New: kind == watch.Added, Gone: kind == watch.Deleted,
		At: time.Now(), version: versionNumber(object.GetResourceVersion()),
	}
	o.past.events = append(o.past.events, e)
	o.now = o.now.with(e)
	o.count++
	o.last = e.At
}

// view returns the objects as the observer last saw them, and the number of events that it has received.
func (o *observer) view() (View, int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now, o.count, o.broken
}

// silent returns the time since the last event.
func (o *observer) silent() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.last)
}

// story returns all events that the observer has received.
func (o *observer) story() history {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.past
	h.events = append([]Event(nil), h.events...)
	return h
}
