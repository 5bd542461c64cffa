// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

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
