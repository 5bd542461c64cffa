// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// asideInterval passes before what was refused to a patch aside is asked for again. A quota that is raised, say, wakes
// no one.
const asideInterval = time.Minute

// aside makes the patches on which nothing else rests, after all else. Such a one must not slow down either what is
// done with each event, so that what was refused is not asked for again at once.
func (l *Loop[O, F]) aside(ctx context.Context, object O, patches []Patch, done *Outcome) {
	key := client.ObjectKeyFromObject(object)
	if len(patches) == 0 {
		l.asides.forget(key)
		return
	}
	what, now := intents(object, patches), l.Clock.Now()
	if wait, known := l.asides.refused(key, what, now); wait > 0 && !done.held {
		done.failAside(known)
		done.lookAgain(wait)
		return
	}
	own := Outcome{held: done.held}
	for _, patch := range patches {
		l.patch(ctx, patch, &own)
	}
	done.join(own)
	switch {
	case own.Err == nil:
		return
	case ensure.Refused(own.Err):
		l.asides.note(key, asideRefusal{what, own.Err, now.Add(asideInterval)})
		done.lookAgain(asideInterval)
	default:
		done.retry = true
	}
	log.FromContext(ctx).Error(own.Err, "A patch on which nothing rests was not made")
	done.failAside(own.Err)
}

// intents says what patches are for, and of which generation of the object: with a change of either it is asked again.
func intents(object client.Object, patches []Patch) string {
	words := []string{fmt.Sprint(object.GetUID(), object.GetGeneration())}
	for _, patch := range patches {
		words = append(words, fmt.Sprintf("%s=%s", patch.contest(), patch.Intent))
	}
	return strings.Join(words, "\n")
}

// join takes up what became of patches, but for their failure.
func (o *Outcome) join(own Outcome) {
	o.Held += own.Held
	o.retry = o.retry || own.retry
	o.lookAgain(own.again)
	if o.Contested == "" {
		o.Contested = own.Contested
	}
}

// failAside notes a failure that held up nothing. One that did goes before it.
func (o *Outcome) failAside(err error) {
	if o.Err == nil {
		o.Err, o.aside = err, true
	}
}

// asides remembers, for each object, what was last refused to its patches aside.
type asides struct {
	mu     sync.Mutex
	latest map[client.ObjectKey]asideRefusal
}

// asideRefusal is what was refused, in which words, and until when that is not asked for again.
type asideRefusal struct {
	what  string
	err   error
	until time.Time
}

// refused tells for how long yet patches are not tried, and why.
func (a *asides) refused(key client.ObjectKey, what string, now time.Time) (wait time.Duration, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.latest[key]
	if last.what != what {
		return 0, nil
	}
	return last.until.Sub(now), last.err
}

func (a *asides) note(key client.ObjectKey, refusal asideRefusal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.latest == nil {
		a.latest = map[client.ObjectKey]asideRefusal{}
	}
	a.latest[key] = refusal
}

func (a *asides) forget(key client.ObjectKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.latest, key)
}
