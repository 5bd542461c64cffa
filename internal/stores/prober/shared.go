// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// shared holds what all clusters of a prober use.
type shared[T, V any, S Store] struct {
	source Source[T, V, S]
	clock  clock.WithTicker
	events chan event.GenericEvent

	mu      sync.Mutex
	ctx     context.Context // the context of Start; nil before Start is called
	running sync.WaitGroup
}

func (s *shared[T, V, S]) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx != nil && s.ctx.Err() == nil
}

// run starts a goroutine if the prober is running. The caller holds the lock.
func (s *shared[T, V, S]) run(f func(context.Context)) {
	if s.ctx != nil && s.ctx.Err() == nil {
		ctx := s.ctx
		s.running.Go(func() { f(ctx) })
	}
}

// background runs a function in a goroutine if the prober is running and claim returns no error. When the prober ends,
// it ends the function's context and waits for the function.
func (s *shared[T, V, S]) background(claim func() error, f func(context.Context)) error {
	s.mu.Lock() // Start waits for every goroutine that starts under this lock
	defer s.mu.Unlock()
	if s.ctx == nil || s.ctx.Err() != nil {
		return ErrNotWatched
	}
	if err := claim(); err != nil {
		return err
	}
	s.run(f)
	return nil
}

// changed sends an event about a cluster. If the channel is full, only the reads of this cluster wait.
func (s *shared[T, V, S]) changed(ctx context.Context, key types.NamespacedName) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
	select {
	case s.events <- event.GenericEvent{Object: object}:
	case <-ctx.Done():
	}
}
