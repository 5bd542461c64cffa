// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv"
)

// tried is a case that has run, with its problems.
type tried struct {
	Case
	work string
	*outcome
}

// references runs every workload twice without faults, and compares the two runs. If they differ, the workload cannot
// be used, because such a difference would later look like the effect of a fault.
func (a *attack) references() {
	var jobs []job
	for _, w := range a.works {
		jobs = append(jobs, job{name: w.Name, run: func(t *testing.T, env *testenv.Env) {
			ref := a.reference(t, env, w.Name, w)
			if len(ref.problems) > 0 {
				t.Fatalf("the run without faults has problems:\n%s\n%s", strings.Join(ref.problems, "\n"), ref.journal.around(0, 1000))
			}
			again := a.run(t, env, w, nil, ref)
			if len(again.problems) > 0 {
				t.Fatalf("the second run without faults differs from the first:\n%s\n%s", strings.Join(again.problems, "\n"), again.journal.around(0, 1000))
			}
			t.Logf("%d writes in %s:\n%s", len(ref.writes), ref.took.Round(time.Millisecond), ref.journal.around(0, 1000))
		}})
	}
	a.inLanes(jobs, func() bool { return true })
}

// all runs the selected cases of all workloads, until the time budget is used up. The order is random, but the first
// case of every class runs before the second case of any class. So the budget excludes no class completely.
func (a *attack) all() {
	p, err := parsePart(*partFlag)
	if err != nil {
		a.t.Fatal(err)
	}
	var jobs []job
	for _, w := range a.works {
		jobs = append(jobs, a.jobs(w, choose(w, cases(a.plan(w), seed()), classes(), p))...)
	}
	more := func() bool { return true }
	if !*exhaustive && *only == "" {
		random := rand.New(rand.NewPCG(seed(), 0))
		random.Shuffle(len(jobs), func(a, b int) { jobs[a], jobs[b] = jobs[b], jobs[a] })
		jobs = inTurns(jobs)
		more = func() bool { return time.Since(a.begin) < *budget }
	}
	if left := len(jobs) - a.inLanes(jobs, more); left > 0 {
		a.t.Logf("%d of %d cases were left out after %s", left, len(jobs), *budget)
	}
}

// list logs the number of cases and their estimated duration. A case is estimated to take twice as long as the run
// without faults, since most cases wait for a late event or a refusal.
func (a *attack) list() {
	for _, w := range a.works {
		n, took := 0, a.refs[w.Name].took
		for _, list := range cases(a.plan(w), seed()) {
			n += len(list)
		}
		all := 2 * took * time.Duration(n) / time.Duration(len(a.lanes))
		a.t.Logf("%s: %d cases, %d writes in %s without faults; about %s for all", w.Name, n, len(a.refs[w.Name].writes), took.Round(time.Millisecond), all.Round(time.Second))
	}
}

func (a *attack) jobs(w Workload, cases []Case) []job {
	var jobs []job
	for _, c := range cases {
		jobs = append(jobs, job{c.name(w), c.class, func(t *testing.T, env *testenv.Env) { a.try(t, env, w, c) }})
	}
	return jobs
}

// try runs one case, and fails the test if the case has problems.
func (a *attack) try(t *testing.T, env *testenv.Env, w Workload, c Case) {
	out := a.outcomeOf(t, env, w, c)
	if len(out.problems) > 0 {
		t.Errorf("%s\n%s", strings.Join(out.problems, "\n"), out.journal.around(12, 50))
	}
	if *only != "" {
		t.Logf("took %s:\n%s", out.took.Round(time.Millisecond), out.journal.around(1000, 1000))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcomes = append(a.outcomes, tried{c, w.Name, out})
}

func (a *attack) outcomeOf(t *testing.T, env *testenv.Env, w Workload, c Case) *outcome {
	ref := a.refs[w.Name].outcome
	if c.derive != nil {
		w = c.derive(w)
		ref = a.reference(t, env, w.Name+"/"+c.derived, w)
		if len(ref.problems) > 0 {
			return ref
		}
	}
	return a.run(t, env, w, &c, ref)
}

// report prints how many cases ran, and the shortest failed case of every class.
func (a *attack) report() {
	slices.SortStableFunc(a.outcomes, func(x, y tried) int {
		return cmp.Or(cmp.Compare(x.class, y.class), cmp.Compare(x.size, y.size))
	})
	var table, failures strings.Builder
	total := 0
	for rest := a.outcomes; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(o tried) bool { return o.class != rest[0].class })
		if n < 0 {
			n = len(rest)
		}
		summarize(&table, &failures, rest[:n])
		total, rest = total+n, rest[n:]
	}
	a.t.Logf("%d cases in %s\n%s", total, time.Since(a.begin).Round(time.Second), &table)
	if n, first := listen().heard(); n > 0 {
		a.t.Errorf("%d reconciles panicked; their stacks are in the log above; the first:\n%s", n, first)
	}
	if failures.Len() > 0 {
		a.t.Errorf("the shortest case of every class that failed; replay one with\n"+
			"  go test -tags faults ./test/faults -run '^%s$' -args -faults.seed %d -faults.only <case>\n%s", a.t.Name(), seed(), &failures)
	}
}

func summarize(table, failures *strings.Builder, class []tried) {
	var failed, vacuous int
	var took time.Duration
	for _, o := range class {
		took += o.took
		if !o.journal.fired() && len(o.problems) == 0 {
			vacuous++
		}
		if len(o.problems) == 0 {
			continue
		}
		if failed++; failed == 1 {
			first, _, _ := strings.Cut(o.problems[0], "\n")
			fmt.Fprintf(failures, "  %s/%s/%s: %s\n", o.work, o.class, o.id, first)
		}
	}
	fmt.Fprintf(table, "  %-18s %3d cases, %d failed, %d where nothing befell, %.1f s each\n",
		class[0].class, len(class), failed, vacuous, took.Seconds()/float64(len(class)))
}
