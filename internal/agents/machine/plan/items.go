// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// translate finds the items of a configuration, and everything that the host cannot do.
func translate(c hostconfig.Config, l ledger.Ledger, f Facts) *translator {
	t := &translator{config: c, ledger: l, facts: f, items: map[ledger.Key]Item{}}
	t.addPaths()
	t.addUnits()
	t.addSysctls()
	t.addUsers()
	t.addBoot()
	t.addParents()
	for _, key := range slices.SortedFunc(maps.Keys(t.items), ledger.Compare) {
		t.refuse(key, f.Unreadable[key])
		t.refuse(key, t.check(t.items[key]))
	}
	return t
}

// problem names everything that the host cannot do.
func (t *translator) problem() error {
	var errs []error
	for _, r := range t.refused {
		errs = append(errs, r.err)
	}
	return errors.Join(errs...)
}

// leave removes the items that the host cannot have.
func (t *translator) leave() {
	maps.DeleteFunc(t.items, func(key ledger.Key, _ Item) bool { return t.leaves(key) })
}

// leaves reports whether a key is left out, because it, or a directory above it, was refused. Its record stays as it is.
func (t *translator) leaves(key ledger.Key) bool {
	return slices.ContainsFunc(t.refused, func(r refusal) bool {
		isBelow := r.Kind == ledger.Path && strings.HasPrefix(key.Name, r.Name+"/")
		return key == r.Key || isBelow && (key.Kind == ledger.Path || key.Kind == ledger.Keys)
	})
}

// Keys returns the keys whose state a plan needs. Of the facts it uses only the accounts and the boot loader.
func Keys(c hostconfig.Config, l ledger.Ledger, f Facts) []ledger.Key {
	// Without states, every parent is an item. What is wrong is reported when the states are known.
	items := translate(c, ledger.Ledger{}, Facts{Accounts: f.Accounts, Boot: f.Boot}).items
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
