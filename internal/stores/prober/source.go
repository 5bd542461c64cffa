// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"errors"
	"time"
)

// CallTimeout limits one call to a store, and a step as a whole.
const CallTimeout = 2 * time.Second

// ErrNotWatched is returned for a store that is not watched, or whose prober has not started or has ended.
var ErrNotWatched = errors.New("the cluster is not watched")

// ErrPanicked reports that an answer of the store could not be read at all, so that it is not known what a step did.
var ErrPanicked = errors.New("the response of the store cannot be read")

// Store is an open connection. Close makes calls under way fail.
type Store interface{ Close() error }

// Source defines one kind of store for a prober, with targets of type T, views of type V and connections of type S.
type Source[T, V any, S Store] struct {
	// Dial opens the store of a target. It does not wait for an answer.
	Dial func(T) (S, error)
	// Same reports whether one connection can serve both targets.
	Same func(a, b T) bool
	// Interval returns how long to wait between two reads of the store.
	Interval func(V) time.Duration
	// Alike reports whether two views look the same to a controller.
	Alike func(a, b V) bool
	// Mark returns the view with what happened since it was read: whether it is stale, and the running work.
	Mark func(view V, stale bool, work string) V
	// Failed returns the view for a read that panicked. before is the previous view.
	Failed func(before V, err error) V
	// Looker returns what reads one cluster. It may keep state between reads.
	Looker func(*Cluster[T, V, S]) Looker[V]
}

// Looker reads one cluster. Only one read runs at a time.
type Looker[V any] interface {
	// Look reads the store. before is the previous view, or empty.
	Look(ctx context.Context, before V) V
	// End stops what the looker runs in the background.
	End()
}
