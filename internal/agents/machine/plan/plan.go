// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Plan is what to do on a host.
type Plan struct {
	// Intent is the ledger to save before the first step, Done the one to save after the last.
	Intent, Done ledger.Ledger
	Steps        []Step
	// Copies are the files to copy before Intent is saved, because a step replaces their content.
	Copies []ledger.Key
	// Conflicts are changes of other programs or users to what the configuration no longer declares. They stay.
	Conflicts []Conflict
	// Kept are directories that opcrew created, and that stay because they have entries of others.
	Kept []string
	// Left says what a tolerant plan leaves out, because the host cannot do it.
	Left []string
	// Labels says which SELinux labels cannot be set.
	Labels []string
}

// New returns the plan for a configuration. The error names everything that the host cannot do.
func New(c hostconfig.Config, l ledger.Ledger, f Facts) (Plan, error) {
	t := translate(c, l, f)
	if err := t.problem(); err != nil {
		return Plan{}, err
	}
	return build(t), nil
}

// Tolerant returns the plan for what the host can have of a configuration. The records of the rest stay as they are.
func Tolerant(c hostconfig.Config, l ledger.Ledger, f Facts) Plan {
	t := translate(c, l, f)
	t.leave()
	p := build(t)
	for _, r := range t.refused {
		p.Left = append(p.Left, r.err.Error())
	}
	return p
}

func build(t *translator) Plan {
	items, l := t.items, t.ledger
	b := &builder{
		items: items, ledger: l, facts: t.facts,
		intent: maps.Clone(l.Records), done: map[ledger.Key]ledger.Record{},
	}
	if b.intent == nil {
		b.intent = map[ledger.Key]ledger.Record{}
	}
	for _, key := range slices.SortedFunc(maps.Keys(items), ledger.Compare) {
		b.want(items[key])
	}
	for _, r := range l.Sorted() {
		switch _, wanted := items[r.Key]; {
		case wanted:
		case t.leaves(r.Key):
			b.done[r.Key] = r
		default:
			b.release(r)
		}
	}
	b.switchUnits()
	b.relink()
	b.addLabels()
	b.addReloads()
	b.sort()
	return b.plan(t.config.Name)
}

func (b *builder) plan(name string) Plan {
	return Plan{
		Intent: ledger.Ledger{Config: b.ledger.Config, Records: b.intent}, Done: ledger.Ledger{Config: name, Records: b.done},
		Steps: b.steps, Copies: b.copies, Conflicts: b.conflicts, Kept: b.kept, Labels: b.labels,
	}
}

// relink repeats a hard link after its file was replaced, because the file then is another one.
func (b *builder) relink() {
	for _, item := range b.items {
		if item.State.Type != ledger.HardLink || b.find(item.Key) != nil || b.find(path(item.State.Target)) == nil {
			continue
		}
		found := b.facts.States[item.Key]
		b.begin(b.done[item.Key], found, Step{Do: Set, Key: item.Key, From: found, To: item.State})
	}
}
