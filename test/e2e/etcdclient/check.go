// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdclient

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// patienceOfJudge limits how long Check examines the history of one key. If it takes longer, Check reports the key as a
// violation.
const patienceOfJudge = time.Minute

// Check returns a description of each violation of etcd's guarantees in the recorded requests and events.
func (h *History) Check() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Concat(checkClusters(h.Ops), checkValues(h.Ops), checkRevisions(h.Ops), checkWatches(h.Ops, h.Watches))
}

// checkClusters reports a violation if responses came from more than one cluster.
func checkClusters(ops []Op) []string {
	ids := map[uint64]bool{}
	for _, op := range ops {
		if op.Known {
			ids[op.Cluster] = true
		}
	}
	if len(ids) > 1 {
		return []string{fmt.Sprintf("answers came from %d clusters: %x", len(ids), slices.Sorted(maps.Keys(ids)))}
	}
	return nil
}

// register returns a model of one key with concurrent clients, for the linearizability checker. A request takes effect
// at one moment between its call and its response. A request without a response takes effect at any later moment, or
// never.
func register() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, _ any) (bool, any) {
			op := input.(Op)
			switch {
			case op.Kind == Put:
				return true, op.Value
			case op.Kind == Get:
				return op.Answer.Value == state, state
			case op.Expect == state:
				return !op.Known || op.Swapped, op.Value
			}
			return !op.Known || !op.Swapped && op.Answer.Value == state, state
		},
	}
}

// checkValues checks the requests of each key separately.
func checkValues(ops []Op) []string {
	read := map[string]bool{}
	for _, op := range ops {
		if op.Known {
			read[op.Answer.Value] = true
		}
	}
	byKey := map[string][]Op{}
	for _, op := range ops {
		// Skip a write without a response whose value no client read. It may have taken effect last, so it cannot
		// violate anything, and including it would double the time of the check.
		if op.Known || op.Kind != Get && read[op.Value] {
			byKey[op.Key] = append(byKey[op.Key], op)
		}
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		switch porcupine.CheckOperationsTimeout(register(), operations(byKey[key]), patienceOfJudge) {
		case porcupine.Illegal:
			out = append(out, fmt.Sprintf("key %s was not one value at a time:\n%s", key, describe(byKey[key])))
		case porcupine.Unknown:
			out = append(out, fmt.Sprintf("key %s: %d operations could not be judged in %s", key, len(byKey[key]), patienceOfJudge))
		}
	}
	return out
}

func operations(ops []Op) []porcupine.Operation {
	out := make([]porcupine.Operation, 0, len(ops))
	for _, op := range ops {
		end := int64(math.MaxInt64)
		if op.Known {
			end = int64(op.Return)
		}
		out = append(out, porcupine.Operation{ClientId: op.Client, Input: op, Call: int64(op.Call), Return: end})
	}
	return out
}

// linesShown limits how many operations on a key a message shows. It shows the last ones, where a lost write is
// visible.
const linesShown = 40

// describe lists operations as text, in the order of their calls.
func describe(ops []Op) string {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	lines := make([]string, 0, len(ops))
	for _, op := range ops {
		lines = append(lines, "  "+op.String())
	}
	if n := len(lines) - linesShown; n > 0 {
		lines = append([]string{fmt.Sprintf("  ... %d before", n)}, lines[n:]...)
	}
	return strings.Join(lines, "\n")
}

// String formats the operation as a line of a history.
func (o Op) String() string {
	said := "no answer"
	switch {
	case !o.Known:
	case o.Kind == Get:
		said = fmt.Sprintf("%q of revision %d", o.Answer.Value, o.ModRevision)
	case o.Kind == Swap && !o.Swapped:
		said = fmt.Sprintf("found %q of revision %d", o.Answer.Value, o.ModRevision)
	default:
		said = "done"
	}
	what := string(o.Kind) + " " + o.Key
	if o.Kind != Get {
		what += fmt.Sprintf(" %q", o.Value)
	}
	if o.Kind == Swap {
		what += fmt.Sprintf(" for %q", o.Expect)
	}
	return fmt.Sprintf("%9s to %9s client %d at %s: %s: %s, revision %d", o.Call.Round(time.Millisecond), o.Return.Round(time.Millisecond), o.Client, o.Member, what, said, o.Revision)
}
