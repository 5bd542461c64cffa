// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package prober

import (
	"context"
	"errors"
	"time"
)

// CallTimeout limits each call to a store, and each step as a whole.
const CallTimeout = 2 * time.Second

// ErrNotWatched is returned for a cluster that the prober does not read, or if the prober is not running.
var ErrNotWatched = errors.New("opcrew is not watching the cluster")

// ErrPanicked reports that the client panicked on a response of the store. It is unknown whether the step was carried
// out.
var ErrPanicked = errors.New("the response of the store cannot be read")

// Store is an open connection to a store. Close makes running calls fail.
type Store interface{ Close() error }

// Source defines one kind of store for a prober, with targets of type T, views of type V and connections of type S.
type Source[T, V any, S Store] struct {
	// Dial opens the store of a target without waiting for an answer.
	Dial func(T) (S, error)
	// Same reports whether one connection can serve both targets.
	Same func(a, b T) bool
	// Interval returns how long to wait before the next read of a store, given the view that the last read returned.
	Interval func(V) time.Duration
	// Alike reports whether two views look the same to a controller.
	Alike func(a, b V) bool
	// Mark records in the view whether it is stale, and the name of the running work. It returns the changed view.
	Mark func(view V, stale bool, work string) V
	// Failed returns the view for a read that panicked. before is the previous view.
	Failed func(before V, err error) V
	// Looker creates the Looker that reads one cluster. A Looker may keep state between reads.
	Looker func(*Cluster[T, V, S]) Looker[V]
}

// Looker reads one cluster. Only one read runs at a time.
type Looker[V any] interface {
	// Look reads the store. before is the previous view; the zero view if there is none.
	Look(ctx context.Context, before V) V
	// End stops what the looker runs in the background.
	End()
}
