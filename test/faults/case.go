// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Case is one fault at one point of one workload.
type Case struct {
	class string
	id    string
	size  int // cases are sorted by it; a smaller case reaches its fault after fewer steps
	// derive changes the workload; the case then has its own reference run.
	derive  func(Workload) Workload
	derived string // names the reference of a derived workload
	arm     func(r *run)
	seed    uint64
}

// name returns the name by which -faults.only selects the case.
func (c Case) name(w Workload) string { return w.Name + "/" + c.class + "/" + c.id }

// random returns the case's own random source, which is the same in every replay.
func (c Case) random() *rand.Rand { return rand.New(rand.NewPCG(c.seed, 0)) }

// class is one kind of fault.
type class struct {
	name string
	// exhaustive classes are tried in full in every run of the tests.
	exhaustive bool
	// cases lists all cases for a workload with this reference.
	cases func(p plan) []Case
}

// plan is the input for the cases of a workload.
type plan struct {
	subject   *Subject
	work      Workload // its last step is the deletion
	ref       *outcome
	resources []string // of the subject's types, with the primary's own resource first
}

// classes returns all classes of faults.
func classes() []class {
	all := []class{
		{"crash-after", true, perWrite(crashAfter)},
		{"crash-before", false, perWrite(crashBefore)},
		{"crash-often", false, crashOften},
		{"lost", false, perWrite(lost)},
		{"conflict", false, conflicts},
	}
	for _, r := range refusals {
		all = append(all, class{"refused-" + r.class, false, refused(r)})
	}
	return append(all,
		class{"late", false, late},
		class{"held", false, held},
		class{"coalesced", false, coalesced},
		class{"relist", false, relisted},
		class{"older-view", false, olderView},
		class{"reborn", false, reborn},
		class{"two-leaders", false, twoLeaders},
		class{"restart", false, restarted},
		class{"extra", false, extra},
	)
}

// cases returns all cases of a workload by class, in each class the shortest first.
func cases(p plan, seed uint64) [][]Case {
	var all [][]Case
	for _, c := range classes() {
		list := c.cases(p)
		for i := range list {
			list[i].class = c.name
			list[i].seed = seed ^ hash(list[i].name(p.work))
		}
		all = append(all, list)
	}
	return all
}

func hash(text string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, text)
	return h.Sum64()
}
