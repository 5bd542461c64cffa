// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	gopath "path"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
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
}

// Conflict is a state that is not restored, because opcrew did not leave it.
type Conflict struct {
	ledger.Key
	Found, Written ledger.State
}

// New returns the plan for a configuration. The error names everything that the host cannot do.
func New(c hostconfig.Config, l ledger.Ledger, f Facts) (Plan, error) {
	items, err := translate(c, l, f)
	if err != nil {
		return Plan{}, err
	}
	b := &builder{
		items: items, ledger: l, facts: f,
		intent: maps.Clone(l.Records), done: map[ledger.Key]ledger.Record{},
	}
	if b.intent == nil {
		b.intent = map[ledger.Key]ledger.Record{}
	}
	for _, key := range slices.SortedFunc(maps.Keys(items), ledger.Compare) {
		b.want(items[key])
	}
	for _, r := range l.Sorted() {
		if _, wanted := items[r.Key]; !wanted {
			b.release(r)
		}
	}
	b.switchUnits()
	b.relink()
	b.addReloads()
	b.sort()
	return b.plan(c.Name), nil
}

// builder collects the parts of a plan.
type builder struct {
	items        map[ledger.Key]Item
	ledger       ledger.Ledger
	facts        Facts
	intent, done map[ledger.Key]ledger.Record
	steps        []Step
	copies       []ledger.Key
	conflicts    []Conflict
	kept         []string
}

func (b *builder) plan(name string) Plan {
	return Plan{
		Intent: ledger.Ledger{Config: b.ledger.Config, Records: b.intent}, Done: ledger.Ledger{Config: name, Records: b.done},
		Steps: b.steps, Copies: b.copies, Conflicts: b.conflicts, Kept: b.kept,
	}
}

// want plans the change to the desired state of an item.
func (b *builder) want(item Item) {
	found := b.facts.States[item.Key]
	r, known := b.ledger.Records[item.Key]
	switch {
	case known && r.Instead != nil && ledger.Same(r.Kind, *r.Instead, item.State) && ledger.Same(r.Kind, found, r.Written):
		b.done[r.Key] = r // the administrator's change was adopted
		return
	case !known:
		r = ledger.Record{Key: item.Key, Before: found}
	default:
		r.Before = original(r, found)
	}
	old := r
	r.Written, r.Undeclared, r.Instead = item.State, false, nil
	r.Pending, r.Previous = false, ledger.State{}
	if item.Kept && item.State.Hash == "" {
		r.Before.Hash = ""
	}
	b.done[r.Key] = item.completed(r)
	if !ledger.Same(r.Kind, found, item.State) {
		b.begin(r, found, Step{Do: Set, Key: r.Key, From: found, To: item.State, Content: item.Content})
		return
	}
	r.Pending, r.Previous = old.Pending, old.Previous // the reload after an earlier change may be missing
	b.intent[r.Key] = r
}

// original returns the state before opcrew changed it. As long as opcrew has not changed a file's content, it has no
// copy, and the content that another program writes becomes the original.
func original(r ledger.Record, found ledger.State) ledger.State {
	before := r.Before
	unchanged := before.Hash == "" || before.Hash == r.Written.Hash && !r.Pending
	if found.Type == hostfs.File && before.Type == hostfs.File && unchanged {
		before.Hash = found.Hash
	}
	return before
}

// completed returns the record after the change. A content that is not opcrew's is not recorded.
func (i Item) completed(r ledger.Record) ledger.Record {
	if i.Kept {
		r.Before.Hash, r.Written.Hash = "", ""
	}
	return r
}

// begin adds a step, and the record that is on disk before it.
func (b *builder) begin(r ledger.Record, found ledger.State, s Step) {
	r.Pending, r.Previous = true, found
	b.intent[r.Key] = r
	b.steps = append(b.steps, s)
	replaces := s.To.Type != hostfs.File || s.To.Hash != "" && s.To.Hash != found.Hash
	if r.Kind == ledger.Path && found.Type == hostfs.File && found.Hash == r.Before.Hash && replaces {
		b.copies = append(b.copies, r.Key)
	}
}

// release plans the way back to the original of what the configuration no longer declares.
func (b *builder) release(r ledger.Record) {
	found := b.facts.States[r.Key]
	ours := r.Explains(found) || ledger.Same(r.Kind, found, r.Written) || b.isOldLink(r, found)
	isKept := r.Undeclared && !r.Pending && b.hasForeign(r.Name)
	gone := r.Kind != ledger.Path && isAbsent(found) && found.Type != "" || b.isGone(r)
	r.Undeclared = true
	switch {
	case ledger.Same(r.Kind, found, r.Before) || gone:
		return
	case isKept:
		b.done[r.Key], b.kept = r, append(b.kept, r.Name)
		return
	case !ours:
		b.intent[r.Key] = r
		r.Pending, r.Previous = false, ledger.State{}
		b.done[r.Key] = r
		b.conflicts = append(b.conflicts, Conflict{r.Key, found, r.Written})
		return
	}
	b.begin(r, found, Step{Do: Set, Key: r.Key, From: found, To: r.Before, Restore: true})
}

// isOldLink reports whether a file is a hard link to what opcrew wrote, whose target another program replaced.
func (b *builder) isOldLink(r ledger.Record, found ledger.State) bool {
	target, known := b.ledger.Records[path(r.Written.Target)]
	return r.Written.Type == ledger.HardLink && known && found.Type == hostfs.File && found.Hash == target.Written.Hash
}

// hasForeign reports whether a directory has entries that opcrew did not create.
func (b *builder) hasForeign(p string) bool {
	return slices.ContainsFunc(b.facts.Names[p], func(name string) bool {
		_, known := b.ledger.Records[path(gopath.Join(p, name))]
		_, keys := b.ledger.Records[ledger.Key{Kind: ledger.Keys, Name: gopath.Join(p, name)}]
		return !known && !keys
	})
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

// find returns the step that changes a key; nil if there is none.
func (b *builder) find(key ledger.Key) *Step {
	for i := range b.steps {
		if b.steps[i].Key == key && b.steps[i].Do == Set {
			return &b.steps[i]
		}
	}
	return nil
}

func (c Conflict) String() string {
	return fmt.Sprintf("%s %s was changed on the host, so it stays as it is: restore it, or remove it yourself", c.Kind, c.Name)
}
