// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	gopath "path"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// builder collects the parts of a plan.
type builder struct {
	items        map[ledger.Key]Item
	ledger       ledger.Ledger
	facts        Facts
	intent, done map[ledger.Key]ledger.Record
	steps        []Step
	copies       []ledger.Key
	conflicts    []Conflict
	kept, labels []string
}

// want plans the change to the desired state of an item.
func (b *builder) want(item Item) {
	found := b.facts.States[item.Key]
	r, known := b.ledger.Records[item.Key]
	switch {
	case known && r.Instead != nil && ledger.Same(r.Kind, *r.Instead, item.State) && ledger.Same(r.Kind, found, r.Written):
		b.done[r.Key] = r // the administrator's change was adopted, or the kernel stores another value
		return
	case !known:
		r = ledger.Record{Key: item.Key, Before: found}
	default:
		r.Before = original(r, found)
	}
	old := r
	r.Written, r.Undeclared, r.Instead = item.State, false, nil
	r.Pending, r.Previous, r.Unlabelled = false, ledger.State{}, false
	if item.Kept && item.State.Hash == "" {
		r.Before.Hash = ""
	}
	b.done[r.Key] = item.completed(r)
	r.Unlabelled = old.Unlabelled
	if !ledger.Same(r.Kind, found, item.State) {
		b.begin(r, found, Step{Do: Set, Key: r.Key, From: found, To: item.State, Content: item.Content})
		return
	}
	r.Pending, r.Previous = old.Pending, old.Previous // the reload after an earlier change may be missing
	b.intent[r.Key] = r
}

// completed returns the record after the change. A content that is not opcrew's is not recorded.
func (i Item) completed(r ledger.Record) ledger.Record {
	if i.Kept {
		r.Before.Hash, r.Written.Hash = "", ""
	}
	return r
}

// release plans the way back to the original of what the configuration no longer declares.
func (b *builder) release(r ledger.Record) {
	if problem := b.facts.Unreadable[r.Key]; problem != nil {
		r.Undeclared = true
		b.keep(r, problem)
		return
	}
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
	case !ours || b.staysMasked(r):
		b.keep(r, nil)
		return
	}
	b.begin(r, found, Step{Do: Set, Key: r.Key, From: found, To: r.Before, Restore: true})
}

// keep leaves a state on the host that another program or user changed.
func (b *builder) keep(r ledger.Record, problem error) {
	r.Unlabelled = false
	b.intent[r.Key] = r
	r.Pending, r.Previous = false, ledger.State{}
	b.done[r.Key] = r
	b.conflicts = append(b.conflicts, Conflict{r.Key, problem})
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

// begin adds a step, and the record that is on disk before it.
func (b *builder) begin(r ledger.Record, found ledger.State, s Step) {
	r.Pending, r.Previous, r.Unlabelled = true, found, b.needsLabel(r, s)
	b.intent[r.Key] = r
	b.steps = append(b.steps, s)
	replaces := s.To.Type != hostfs.File || s.To.Hash != "" && s.To.Hash != found.Hash
	if r.Kind == ledger.Path && found.Type == hostfs.File && found.Hash == r.Before.Hash && replaces {
		b.copies = append(b.copies, r.Key)
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

// isGone reports whether the unit of a record no longer exists, so that there is nothing to restore.
func (b *builder) isGone(r ledger.Record) bool {
	return r.Kind == ledger.Unit && b.facts.Words[r.Name] == units.NotFound && b.find(path(gopath.Join(hostconfig.UnitDirectory, r.Name))) == nil
}

// staysMasked reports whether a user masked a unit that would be enabled again, which systemctl refuses.
func (b *builder) staysMasked(r ledger.Record) bool {
	masked := r.Kind == ledger.Unit && b.facts.Words[r.Name] == units.Masked && r.Before.Value == units.Enabled
	return masked && b.find(path(gopath.Join(hostconfig.UnitDirectory, r.Name))) == nil
}

// Conflict is a state that is not restored, because opcrew did not leave it.
type Conflict struct {
	ledger.Key
	// Problem is why the state cannot be observed; nil if it can.
	Problem error
}

func (c Conflict) String() string {
	if c.Problem != nil {
		return fmt.Sprintf("%s %s cannot be examined, so it stays as it is: %v", c.Kind, c.Name, c.Problem)
	}
	return fmt.Sprintf("%s %s was changed on the host, so it stays as it is: restore it, or remove it yourself", c.Kind, c.Name)
}
