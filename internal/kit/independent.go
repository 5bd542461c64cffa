// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// refusalInterval is how long to wait before an independent patch, on which nothing else depends, is tried again after
// a refusal. opcrew must retry by itself, because no event reports that, for example, a quota was raised.
const refusalInterval = time.Minute

// refusal records which independent patches of an object the API server refused, and when to try them again.
type refusal struct {
	patches string
	err     error
	until   time.Time
}

// patchIndependent applies the patches on which nothing else in the plan depends, after everything else. It does not
// retry a refused patch at every event, because that would slow down the other work on the object.
func (l *Loop[O, F, D]) patchIndependent(ctx context.Context, object O, patches []Patch, done *Outcome) {
	key := client.ObjectKeyFromObject(object)
	if len(patches) == 0 {
		l.refusals.Forget(key)
		return
	}
	what, now := intents(object, patches), l.Clock.Now()
	last := l.refusals.Get(key)
	if wait := last.until.Sub(now); last.patches == what && wait > 0 && !done.held {
		done.failIndependent(last.err)
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
		l.refusals.Set(key, refusal{what, own.Err, now.Add(refusalInterval)})
		done.lookAgain(refusalInterval)
	default:
		done.retry = true
	}
	log.FromContext(ctx).Error(own.Err, "Failed to patch an object; no other change depends on this patch")
	done.failIndependent(own.Err)
}

// intents returns a key for the independent patches and the generation of the object. If the key changes, refused
// patches are tried again.
func intents(object client.Object, patches []Patch) string {
	words := []string{fmt.Sprint(object.GetUID(), object.GetGeneration())}
	for _, patch := range patches {
		words = append(words, fmt.Sprintf("%s=%s", patch.contest(), patch.Intent))
	}
	return strings.Join(words, "\n")
}
