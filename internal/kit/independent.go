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

// refusalInterval is how long to wait before a refused independent patch is tried again. No event reports, for example,
// that a quota was raised.
const refusalInterval = time.Minute

// refusal holds the independent patches of an object that were refused, and the time until which they are not tried
// again.
type refusal struct {
	patches string
	err     error
	until   time.Time
}

// patchIndependent makes the independent patches, last. A refused patch must not slow down what is done at each event,
// so it is not tried again at once.
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

// intents identifies the patches and the generation of the object. If either changes, the patches are tried again.
func intents(object client.Object, patches []Patch) string {
	words := []string{fmt.Sprint(object.GetUID(), object.GetGeneration())}
	for _, patch := range patches {
		words = append(words, fmt.Sprintf("%s=%s", patch.contest(), patch.Intent))
	}
	return strings.Join(words, "\n")
}
