// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// observer watches objects, and records when it first sees each object in the wanted state. Timestamps in objects are
// too coarse for this, because they are in whole seconds.
type observer struct {
	mu     sync.Mutex
	seen   map[string]bool
	at     map[string]time.Time
	said   map[string][]string // messages of Ready that each object has had, in order
	wanted func(client.Object) bool
	in     []string // namespaces that are watched
	stop   func()
}

// observe watches the objects of a list's type until stop is called or the test ends. If namespaces is empty, it
// watches all namespaces.
func observe(t *testing.T, list client.ObjectList, wanted func(client.Object) bool, namespaces ...string) *observer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	o := &observer{seen: map[string]bool{}, at: map[string]time.Time{}, said: map[string][]string{}, wanted: wanted, in: namespaces, stop: func() { cancel(); <-ended }}
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			o.watch(ctx, list)
		}
	}()
	t.Cleanup(o.stop)
	return o
}

// watch records the events of one watch until the watch ends. Every new watch starts with an event for each existing
// object.
func (o *observer) watch(ctx context.Context, list client.ObjectList) {
	watch, err := env.Client.Watch(ctx, list.DeepCopyObject().(client.ObjectList))
	if err != nil {
		time.Sleep(100 * time.Millisecond)
		return
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		if object, ok := event.Object.(client.Object); ok && (len(o.in) == 0 || slices.Contains(o.in, object.GetNamespace())) {
			o.note(object)
		}
	}
}

func (o *observer) note(object client.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := object.GetName()
	o.seen[name] = true
	o.listen(object)
	if _, ok := o.at[name]; !ok && o.wanted(object) {
		o.at[name] = time.Now()
	}
}

// listen records the condition Ready of an object if it has changed.
func (o *observer) listen(object client.Object) {
	c, ok := object.(conditioned)
	if !ok {
		return
	}
	words, said := "", o.said[object.GetName()]
	if ready := meta.FindStatusCondition(*c.StatusConditions(), "Ready"); ready != nil {
		words = fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message)
	}
	if len(said) == 0 || said[len(said)-1] != words {
		o.said[object.GetName()] = append(said, words)
	}
}

// words returns the messages of Ready that an object has had.
func (o *observer) words(name string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.said[name])
}

// count returns how many objects have been seen, and how many have reached the wanted state.
func (o *observer) count() (seen, done int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.seen), len(o.at)
}

// saw waits until n objects have been seen.
func (o *observer) saw(t *testing.T, n int) *observer {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		seen, _ := o.count()
		if seen >= n {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatalf("expected to see %d objects, saw %d", n, seen)
		}
	}
}

// done waits until n objects have reached the wanted state, and returns the time when the last of them reached it. If
// that takes longer than the time limit, done returns false.
func (o *observer) done(n int) (time.Time, bool) {
	for deadline := time.Now().Add(*limit); ; time.Sleep(10 * time.Millisecond) {
		if _, done := o.count(); done >= n {
			return o.last(), true
		}
		if time.Now().After(deadline) {
			return time.Now(), false
		}
	}
}

func (o *observer) last() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	var last time.Time
	for _, at := range o.at {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// since returns the median and the 99th percentile of the times from the creation of an object until it reached the
// wanted state.
func (o *observer) since(begin map[string]time.Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var times []time.Duration
	for name, at := range o.at {
		begun, ok := begin[name]
		if !ok { // the name of a child starts with the name of its owner
			object, _, _ := strings.Cut(name, "-")
			begun = begin[object]
		}
		times = append(times, at.Sub(begun))
	}
	if len(times) == 0 {
		return "none"
	}
	slices.Sort(times)
	at := func(percent int) time.Duration { return times[min(len(times)-1, len(times)*percent/100)] }
	return fmt.Sprintf("%.1f s, %.1f s", at(50).Seconds(), at(99).Seconds())
}

// beginnings records when the test created each object.
type beginnings struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (b *beginnings) now(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == nil {
		b.at = map[string]time.Time{}
	}
	b.at[name] = time.Now()
}
