// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// The flags of the fault tests. Pass them after -args: go test -tags faults ./test/faults -args -faults.exhaustive.
var (
	exhaustive = flag.Bool("faults.exhaustive", false, "try every case there is, and not only a sample")
	only       = flag.String("faults.only", "", "try only these cases: workload/class/k, or a beginning of it; several with commas, * for any")
	seedFlag   = flag.Uint64("faults.seed", 0, "choose the sample, and what is random in a case, by this number")
	sample     = flag.Int("faults.sample", 2, "how many cases of each class and workload a sample has")
	budget     = flag.Duration("faults.budget", 4*time.Minute, "begin no further cases of a kind after this time, unless all are asked for")
	partFlag   = flag.String("faults.part", "", "of all cases, try only those of one of several parts: 2/5 is the second of five")
	listFlag   = flag.Bool("faults.list", false, "carry out only the references, and log how many cases there are and what they may take")
	servers    = flag.Int("faults.servers", 3, "how many servers to spread cases over that cannot share one")
)

// seed returns the random seed of the process: the value of -faults.seed, or a seed that depends on the time.
var seed = sync.OnceValue(func() uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	return uint64(time.Now().UnixNano()) % 1_000_000
})

// choose selects the cases of a workload that the flags request.
func choose(w Workload, byClass [][]Case, kinds []class, p part) []Case {
	var out []Case
	random := rand.New(rand.NewPCG(seed(), hash(w.Name)))
	for i, list := range byClass {
		switch {
		case *only != "":
			out = append(out, slices.DeleteFunc(list, func(c Case) bool { return !selected(c.name(w)) })...)
		case *exhaustive || kinds[i].exhaustive:
			out = append(out, list...)
		default:
			random.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
			out = append(out, list[:min(*sample, len(list))]...)
		}
	}
	return slices.DeleteFunc(out, func(c Case) bool { return !p.has(c.name(w)) })
}

// inTurns orders jobs in rounds. Each round has one job of every fault class, so that a time limit excludes no class
// completely.
func inTurns(jobs []job) []job {
	turns, had := map[string]int{}, map[string]int{}
	for _, j := range jobs {
		turns[j.name] = had[j.class]
		had[j.class]++
	}
	out := slices.Clone(jobs)
	slices.SortStableFunc(out, func(a, b job) int { return cmp.Compare(turns[a.name], turns[b.name]) })
	return out
}

// selected reports whether -faults.only selects the case with this name. The flag lists prefixes of names, separated by
// commas, in which each path element may be a pattern: */crash-after,small/held/0-*.
func selected(name string) bool {
	parts := strings.Split(name, "/")
	for asked := range strings.SplitSeq(*only, ",") {
		patterns := strings.Split(strings.TrimSuffix(asked, "/"), "/")
		match := len(patterns) <= len(parts)
		for i := 0; match && i < len(patterns); i++ {
			ok, err := path.Match(patterns[i], parts[i])
			match = ok && err == nil
		}
		if match {
			return true
		}
	}
	return false
}
