// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/test/testenv"
)

// Hunt tests the fault tests themselves. It attacks controllers with known bugs. Each bug must be found by the class of
// faults that the test names.
type Hunt struct {
	attack *attack
	jobs   []job
}

// Classes returns the names of all classes of faults.
func Classes() []string {
	var names []string
	for _, c := range classes() {
		names = append(names, c.name)
	}
	return names
}

// NewHunt starts test servers with the CRDs, types and settings of the given Subject. All Subjects that are later
// passed to Add must use the same types.
func NewHunt(t *testing.T, like Subject) *Hunt {
	t.Parallel()
	return &Hunt{attack: newAttack(t, &like)}
}

// Add attacks a controller that has a bug, with the cases of one class of faults. The test fails unless a case reports
// a problem that contains the text in words. The test also fails if the controller always fails without faults. On a
// slow machine, a bug that is a race may sometimes show without faults.
func (h *Hunt) Add(name string, s Subject, class, words string) {
	h.jobs = append(h.jobs, job{name: name, run: func(t *testing.T, env *testenv.Env) {
		a := &attack{t: t, subject: &s, kinds: h.attack.kinds, lanes: h.attack.lanes, refs: map[string]*reference{}}
		for _, w := range s.Workloads {
			a.add(w)
		}
		var other []string
		for _, w := range a.works {
			why := ""
			for range tries {
				if why = a.unsound(t, env, w); why == "" {
					break
				}
			}
			if why != "" {
				t.Fatal(why)
			}
			found, others := a.hunt(t, env, w, class, words)
			if found {
				return
			}
			other = append(other, others...)
		}
		t.Errorf("expected a case of %s to report a problem with the words %q; the cases reported:\n%s", class, words, strings.Join(other, "\n"))
	}})
}

// tries is how often a controller may fail without faults before Add gives up.
const tries = 3

// unsound returns the problems that the controller has even without faults. Such a controller is not suitable for a
// Hunt. If there are no such problems, unsound returns "".
func (a *attack) unsound(t *testing.T, env *testenv.Env, w Workload) string {
	clear(a.refs)
	ref := a.reference(t, env, w.Name, w)
	if len(ref.problems) > 0 {
		return fmt.Sprintf("it should do well without faults:\n%s\n%s", strings.Join(ref.problems, "\n"), ref.journal.around(0, 100))
	}
	if out := a.run(t, env, w, nil, ref); len(out.problems) > 0 {
		return "without faults it should do the same twice:\n" + strings.Join(out.problems, "\n")
	}
	return ""
}

// hunt runs the cases of a class, the shortest first, until a case reports a problem that contains the text in words.
// If no case does, hunt returns the problems that the cases reported instead.
func (a *attack) hunt(t *testing.T, env *testenv.Env, w Workload, class, words string) (found bool, others []string) {
	for _, list := range cases(a.plan(w), seed()) {
		for _, c := range list {
			if c.class != class {
				continue
			}
			out := a.outcomeOf(t, env, w, c)
			if len(out.problems) == 0 {
				continue
			}
			problems := strings.Join(out.problems, "\n")
			t.Logf("%s:\n%s\n%s", c.name(w), problems, out.journal.around(5, 20))
			if strings.Contains(problems, words) {
				return true, nil
			}
			others = append(others, c.name(w)+":\n"+problems)
		}
	}
	return false, others
}

// Run runs all attacks that Add added.
func (h *Hunt) Run() { h.attack.inLanes(h.jobs, func() bool { return true }) }
