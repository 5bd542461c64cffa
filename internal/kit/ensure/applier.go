// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/guard"
)

// Applier writes children. It reads from the cache, except where a mistake would overwrite another owner's object. It
// remembers opcrew's own writes, and the contests over them.
type Applier struct {
	// Client reads from the cache, and writes to the API server.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Clock is the clock for contests.
	Clock clock.PassiveClock
	// Guards decide whether a finished pod may be written, in this order.
	Guards []guard.Guard

	writes       writes
	contests     contests
	predecessors predecessors
}

// Record remembers the version that a write returned, until the cache shows it.
func (a *Applier) Record(gvk schema.GroupVersionKind, object client.Object) {
	a.writes.record(refOf(gvk, object), object.GetResourceVersion())
}

// Behind reports whether a cached object is older than opcrew's last write of it.
func (a *Applier) Behind(gvk schema.GroupVersionKind, cached client.Object) bool {
	return a.writes.behind(refOf(gvk, cached), cached.GetResourceVersion())
}

// Forget clears what is remembered about the writes of an object that is gone.
func (a *Applier) Forget(gvk schema.GroupVersionKind, key client.ObjectKey) {
	a.writes.forget(Ref{gvk, key})
}

// Contest counts a write that brings an object to an intent, given by its hash. It returns 0, or how long to leave the
// object alone instead. Another intent starts another count, so that edits of a user are not a contest.
func (a *Applier) Contest(uid types.UID, intent string) time.Duration {
	return a.contests.enter(uid, intent, a.Clock.Now())
}

// Withdraw removes the count of a write that failed, because it had no effect that another manager could undo.
func (a *Applier) Withdraw(uid types.UID) { a.contests.withdraw(uid) }

// Until returns the time at which a wait ends, for messages. Unlike the wait it stays the same.
func (a *Applier) Until(wait time.Duration) string {
	return a.Clock.Now().Add(wait).UTC().Round(time.Second).Format("15:04:05Z")
}

func (a *Applier) scheme() *runtime.Scheme { return a.Client.Scheme() }

func refOf(gvk schema.GroupVersionKind, object client.Object) Ref {
	return Ref{gvk, client.ObjectKeyFromObject(object)}
}
