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
var ErrPanicked = errors.New("the answer of the store cannot be read")

// Store is an open connection. Close makes calls under way fail.
type Store interface{ Close() error }

// Source is what a prober needs to know of one kind of store: targets of type T, views of type V, connections of type S.
type Source[T, V any, S Store] struct {
	// Dial opens the store of a target. It waits for no answer.
	Dial func(T) (S, error)
	// Same reports whether one connection serves both targets.
	Same func(a, b T) bool
	// Interval is the time between two looks.
	Interval func(V) time.Duration
	// Alike reports whether two views differ in nothing that a controller acts on.
	Alike func(a, b V) bool
	// Mark returns the view with what happens beside the looks: whether it is stale, and the work under way.
	Mark func(view V, stale bool, work string) V
	// Failed is the view of a look that panicked, after the view before.
	Failed func(before V, err error) V
	// Looker returns what looks at one cluster, with a memory of its own.
	Looker func(*Cluster[T, V, S]) Looker[V]
}

// Looker looks at one cluster. Only one look runs at a time.
type Looker[V any] interface {
	// Look reads the store. before is the last view, or empty.
	Look(ctx context.Context, before V) V
	// End stops what the looker runs beside the looks.
	End()
}
