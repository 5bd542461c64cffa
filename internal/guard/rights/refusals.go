// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

const (
	// interval is how long a refusal is remembered. After that the right is checked again, as it may have been granted.
	interval = time.Minute
	// most is how many refusals are remembered. If there are more, the expired ones are dropped.
	most = 1000
)

// question identifies a check of rights that was refused. If the spec of the owner or the requester changes, the check
// counts as a new one.
type question struct {
	owner      types.UID
	generation int64
	requester  string
	pod        string
}

func questionOf(owner client.Object, pod guard.Pod) question {
	return question{owner.GetUID(), owner.GetGeneration(), owner.GetAnnotations()[common.RequesterAnnotation], pod.String()}
}

// refusals remembers refused checks, so that an object that is reconciled often does not cause a review each time.
// Permissions are never remembered.
type refusals struct {
	mu   sync.Mutex
	last map[question]refusal
}

type refusal struct {
	objection guard.Objection
	until     time.Time
}

// recent returns a refusal from the last minute, with the time until the next check; nil if there is none.
func (r *refusals) recent(asked question, now time.Time) *guard.Objection {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.last[asked]
	if !ok || !now.Before(last.until) {
		return nil
	}
	out := last.objection
	out.Again = last.until.Sub(now)
	return &out
}

// remember stores a refusal for a minute.
func (r *refusals) remember(asked question, why guard.Objection, now time.Time) *guard.Objection {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[question]refusal{}
	}
	if len(r.last) >= most {
		r.drop(now)
	}
	why.Again = interval
	r.last[asked] = refusal{why, now.Add(interval)}
	return &why
}

// drop removes expired refusals. If there are still too many, it removes all, because new reviews are cheaper than
// unlimited memory.
func (r *refusals) drop(now time.Time) {
	for asked, last := range r.last {
		if !now.Before(last.until) {
			delete(r.last, asked)
		}
	}
	if len(r.last) >= most {
		clear(r.last)
	}
}
