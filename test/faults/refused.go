// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// If the API server refuses a write fewRefusals times, the controller must succeed by retrying. If the API server refuses
// it manyRefusals times, and for longRefusal, the operator must report the refusal.
const (
	fewRefusals  = 2
	manyRefusals = 6
	longRefusal  = 2 * time.Second
)

// refused returns one case for every write. In each case, the server refuses the write and its repetitions for a while.
// If the operator must report the refusal, this ends when the status of an object contains the message of the refusal,
// otherwise after a few refusals.
func refused(why refusal) func(plan) []Case {
	return func(p plan) []Case {
		var all []Case
		for k, w := range p.ref.writes {
			if why.class == "quota" && (!w.created || w.namespace == "") {
				continue // a quota only limits objects in namespaces
			}
			all = append(all, Case{id: fmt.Sprint(k + 1), size: k + 1, arm: func(r *run) {
				s := &siege{run: r, why: why, at: k + 1}
				r.wire.on(s.befall)
				r.hooks.before, r.hooks.silent = s.restart, s.silent
			}})
		}
		return all
	}
}

// siege makes the server refuse one write and its repetitions, until the number of refusals suffices for the test.
type siege struct {
	*run
	why refusal
	at  int

	mu      sync.Mutex
	of      *target
	since   time.Time
	refused int
	lifted  bool
	unheard bool
}

func (s *siege) befall(w *write, _ *instance) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.n == s.at {
		s.of = &w.target
	}
	if s.of == nil || *s.of != w.target || s.lifted {
		return nil
	}
	if s.refused == 0 {
		s.since = time.Now()
	}
	if s.lifted = s.over(); s.lifted {
		s.unheard = s.reportable() && s.anybody() && !s.heard()
		s.journal.add("the refusal is lifted")
		return nil
	}
	s.refused++
	s.journal.mark("refused (%s): %s", s.why.class, w.target)
	return func(func() (*http.Response, error)) (*http.Response, error) { return s.why.answer(), nil }
}

// restart resets the number of refusals at the start of a step. Otherwise, refusals of an earlier step would count in a
// later step that repeats the write.
func (s *siege) restart(int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = 0
}

// over reports whether the write has been refused often enough. The caller must hold the lock.
func (s *siege) over() bool {
	switch {
	case s.why.retry != "":
		return s.refused >= 1
	case !s.reportable():
		return s.refused >= fewRefusals
	}
	return s.heard() || s.tooLong()
}

// tooLong reports whether the operator should have reported the refusal by now.
func (s *siege) tooLong() bool { return s.refused >= manyRefusals && time.Since(s.since) > longRefusal }

// reportable reports whether the operator can report the refusal in the status. It cannot do so if the write of the
// status itself is refused.
func (s *siege) reportable() bool { return s.why.reported && s.of.subresource == "" }

// anybody reports whether an object of the kind exists. Without such an object, no status can report a refusal,
// although the operator may still write: it deletes the child objects that all objects of the kind shared.
func (s *siege) anybody() bool {
	view, _, _ := s.observer.view()
	return len(view.Objects(s.kinds[0].Kind)) > 0
}

// heard reports whether the status of an object of the kind contains the message of the refusal.
func (s *siege) heard() bool {
	view, _, _ := s.observer.view()
	for _, object := range view.Objects(s.kinds[0].Kind) {
		if strings.Contains(fmt.Sprint(object.Object["status"]), s.why.message) {
			return true
		}
	}
	return false
}

// silent describes the problem that the server refused a write many times and the operator did not report it. It
// returns "" if there is no such problem.
func (s *siege) silent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unheard {
		return ""
	}
	return fmt.Sprintf("%s was refused %s, but no condition has the words %q", s.of, times(s.refused), s.why.message)
}
