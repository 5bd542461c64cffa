// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Item is the desired state of one key.
type Item struct {
	ledger.Key
	State ledger.State
	// Content is the content of a file; nil if the file keeps the content of the original.
	Content []byte
	// Overwrite allows the item to replace an original of another type.
	Overwrite bool
	// Kept is set for a file whose content is not opcrew's, but that of the original.
	Kept bool
	// Implicit items are parents that the configuration does not name.
	Implicit bool
}

// translator collects the items of a configuration, and everything that the host cannot do.
type translator struct {
	config hostconfig.Config
	ledger ledger.Ledger
	facts  Facts
	items  map[ledger.Key]Item
	errs   []error
}

// translate returns the items of a configuration. The error names everything that the host cannot do.
func translate(c hostconfig.Config, l ledger.Ledger, f Facts) (map[ledger.Key]Item, error) {
	t := &translator{config: c, ledger: l, facts: f, items: map[ledger.Key]Item{}}
	t.addPaths()
	t.addUnits()
	t.addSysctls()
	t.addUsers()
	t.addBoot()
	t.addParents()
	for _, key := range slices.SortedFunc(maps.Keys(t.items), ledger.Compare) {
		t.refuse(t.check(t.items[key]))
	}
	return t.items, errors.Join(t.errs...)
}

// Keys returns the keys whose state a plan needs. Of the facts it uses only the accounts and the boot loader.
func Keys(c hostconfig.Config, l ledger.Ledger, f Facts) []ledger.Key {
	// Without states, every parent is an item. What is wrong is reported when the states are known.
	items, _ := translate(c, ledger.Ledger{}, Facts{Accounts: f.Accounts, Boot: f.Boot})
	for _, u := range c.Units {
		items[path(u.Path())] = Item{}
	}
	for key := range l.Records {
		items[key] = Item{}
	}
	for key := range maps.Clone(items) {
		if name, is := unitOf(key); is {
			items[ledger.Key{Kind: ledger.Unit, Name: name}] = Item{}
		}
	}
	return slices.SortedFunc(maps.Keys(items), ledger.Compare)
}

func (t *translator) refuse(err error) {
	if err != nil {
		t.errs = append(t.errs, err)
	}
}

func (t *translator) add(item Item) { t.items[item.Key] = item }

// original returns the state that the host had before opcrew changed it.
func (t *translator) original(key ledger.Key) ledger.State {
	if r, known := t.ledger.Records[key]; known {
		return original(r, t.facts.States[key])
	}
	return t.facts.States[key]
}

// hasChanged reports whether opcrew has changed the content of a file, so that the ledger has a copy of the original.
func (t *translator) hasChanged(key ledger.Key) bool {
	r, known := t.ledger.Records[key]
	return known && r.Before.Hash != "" && (r.Written.Hash != r.Before.Hash || r.Pending)
}

// isAbsent also covers a state that was not observed.
func isAbsent(s ledger.State) bool { return s.Type == hostfs.Absent || s.Type == "" }

func path(name string) ledger.Key { return ledger.Key{Kind: ledger.Path, Name: name} }

// isStorable reports whether the ledger, which is JSON, can hold a state exactly.
func isStorable(s ledger.State) bool { return utf8.ValidString(s.Target) && utf8.ValidString(s.Value) }
