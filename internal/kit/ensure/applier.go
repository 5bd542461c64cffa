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

// Applier writes child objects. It reads them from the cache. Where a stale read could overwrite an object of another
// owner, it reads from the API server. It remembers its own writes, and detects managers that keep undoing them.
type Applier struct {
	// Client reads from the cache, and writes to the API server.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Clock measures the time between writes, to detect contests with other managers.
	Clock clock.PassiveClock
	// Guards are checks that can refuse the complete pod of a child before the Applier writes it. The Applier calls
	// them in this order.
	Guards []guard.Guard

	writes       writes
	contests     contests
	predecessors predecessors
}

// Record remembers the resource version that a write returned, until the cache shows that version.
func (a *Applier) Record(gvk schema.GroupVersionKind, object client.Object) {
	a.writes.record(refOf(gvk, object), object.GetResourceVersion())
}

// Behind reports whether a cached object is older than opcrew's last write of it.
func (a *Applier) Behind(gvk schema.GroupVersionKind, cached client.Object) bool {
	return a.writes.behind(refOf(gvk, cached), cached.GetResourceVersion())
}

// Forget removes the record of writes to an object that is gone.
func (a *Applier) Forget(gvk schema.GroupVersionKind, key client.ObjectKey) {
	a.writes.forget(Ref{gvk, key})
}

// Contest counts a write to an object. intent is a hash of the state that the write sets. Contest returns 0, or how
// long to leave the object unchanged because another manager keeps undoing the writes. A different intent starts a new
// count, so edits by a user never count as a contest.
func (a *Applier) Contest(uid types.UID, intent string) time.Duration {
	return a.contests.enter(uid, intent, a.Clock.Now())
}

// Withdraw removes a failed write from the writes that Contest counts, because no other manager can have undone it.
func (a *Applier) Withdraw(uid types.UID) { a.contests.withdraw(uid) }

// Until returns the time of day at which a wait ends, for messages. A message with the remaining time would change with
// every reconcile, but the time of day stays the same.
func (a *Applier) Until(wait time.Duration) string {
	return a.Clock.Now().Add(wait).UTC().Round(time.Second).Format("15:04:05Z")
}

func (a *Applier) scheme() *runtime.Scheme { return a.Client.Scheme() }

func refOf(gvk schema.GroupVersionKind, object client.Object) Ref {
	return Ref{gvk, client.ObjectKeyFromObject(object)}
}
