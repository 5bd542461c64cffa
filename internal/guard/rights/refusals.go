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
	// interval is the time after which a refusal is checked again: a right may have been granted.
	interval = time.Minute
	// most is how many refusals are kept; beyond that, those that are over are dropped.
	most = 1000
)

// question is what a refusal answers. Another spec or requester is another question.
type question struct {
	owner      types.UID
	generation int64
	requester  string
	pod        string
}

func questionOf(owner client.Object, pod guard.Pod) question {
	return question{owner.GetUID(), owner.GetGeneration(), owner.GetAnnotations()[common.RequesterAnnotation], pod.String()}
}

// refusals remembers refusals, so that an object in a busy loop makes no review each time. It never remembers that
// something is allowed.
type refusals struct {
	mu   sync.Mutex
	last map[question]refusal
}

type refusal struct {
	objection guard.Objection
	until     time.Time
}

// recent returns the refusal of the last minute, and when it ends; nil if there is none.
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

// remember keeps a refusal for a minute.
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

// drop forgets refusals that are over, and all if none is: reviews are cheaper than memory without a limit.
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
