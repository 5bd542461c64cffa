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
	size  int // sort key: a smaller case reaches its fault after fewer steps
	// derive changes the workload of the case, if it is set. The changed workload then needs its own run without
	// faults.
	derive  func(Workload) Workload
	derived string // name of the changed workload, for its run without faults
	arm     func(r *run)
	seed    uint64
}

// name returns the name of the case, with which the flag -faults.only selects it.
func (c Case) name(w Workload) string { return w.Name + "/" + c.class + "/" + c.id }

// random returns the random source of the case. It produces the same values whenever the case is repeated with the same
// seed.
func (c Case) random() *rand.Rand { return rand.New(rand.NewPCG(c.seed, 0)) }

// class is one kind of fault, such as a crash after a write.
type class struct {
	name string
	// exhaustive means that every run of the tests tries all cases of the class, and not only a sample.
	exhaustive bool
	// cases returns all cases of the class for a workload.
	cases func(p plan) []Case
}

// plan is the input from which the fault classes derive the cases of a workload.
type plan struct {
	subject   *Subject
	work      Workload // its last step deletes all objects of the kind
	ref       *outcome
	resources []string // resources of the subject's types, with the primary's resource first
}

// classes returns all classes of faults, in the order in which doc.go describes them.
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

// cases returns all cases of a workload, one list per class. Each list begins with the case that takes the fewest
// steps.
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
