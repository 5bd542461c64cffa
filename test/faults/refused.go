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

// fewRefusals are enough for a controller that tries again. After so many, and so long,
// it must have told its user.
const (
	fewRefusals  = 2
	manyRefusals = 6
	longRefusal  = 2 * time.Second
)

// refused makes one case for every write: it and its repetitions are refused a few
// times, or until the user can read in a condition why, and then no more.
func refused(why refusal) func(plan) []Case {
	return func(p plan) []Case {
		var all []Case
		for k, w := range p.ref.writes {
			if why.class == "quota" && (!w.created || w.namespace == "") {
				continue // quotas count objects in namespaces
			}
			all = append(all, Case{id: fmt.Sprint(k + 1), size: k + 1, arm: func(r *run) {
				s := &siege{run: r, why: why, at: k + 1}
				r.wire.on(s.befall)
				r.hooks.before, r.hooks.told = s.anew, s.told
			}})
		}
		return all
	}
}

// siege refuses one write and its repetitions until it is lifted.
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
		s.unheard = s.tellable() && s.anybody() && !s.heard()
		s.journal.add("the refusal is lifted")
		return nil
	}
	s.refused++
	s.journal.mark("refused (%s): %s", s.why.class, w.target)
	return func(func() (*http.Response, error)) (*http.Response, error) { return s.why.answer(), nil }
}

// anew begins to count again with every step: a write that was needless in an earlier one,
// and never tried again, does not age the refusal of the same write in a later one.
func (s *siege) anew(int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = 0
}

// over reports whether it has been refused often enough. The lock is held.
func (s *siege) over() bool {
	switch {
	case s.why.retry != "":
		return s.refused >= 1
	case !s.tellable():
		return s.refused >= fewRefusals
	}
	return s.heard() || s.tooLong()
}

// tooLong reports whether the user should have heard of it.
func (s *siege) tooLong() bool { return s.refused >= manyRefusals && time.Since(s.since) > longRefusal }

// tellable reports whether the user can learn of the refusal: of that of a status only
// by a status.
func (s *siege) tellable() bool { return s.why.tells && s.of.subresource == "" }

// anybody reports whether there is an object that could say why: what instances share goes
// after the last of them, and then there is none.
func (s *siege) anybody() bool {
	view, _, _ := s.observer.view()
	return len(view.Objects(s.kinds[0].Kind)) > 0
}

// heard reports whether some object of the kind says why it was refused.
func (s *siege) heard() bool {
	view, _, _ := s.observer.view()
	for _, object := range view.Objects(s.kinds[0].Kind) {
		if strings.Contains(fmt.Sprint(object.Object["status"]), s.why.message) {
			return true
		}
	}
	return false
}

// told says what is wrong if the operator was refused again and again and kept it to itself.
func (s *siege) told() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unheard {
		return ""
	}
	return fmt.Sprintf("%s was refused %s and no condition has the words %q", s.of, times(s.refused), s.why.message)
}
