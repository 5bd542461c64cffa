// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"maps"
	gopath "path"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
)

// addParents adds the directories above items that the host does not have. They stay items as long as something below
// them is declared.
func (t *translator) addParents() {
	for _, key := range slices.SortedFunc(maps.Keys(t.items), ledger.Compare) {
		if key.Kind != ledger.Path && key.Kind != ledger.Keys || isAbsent(t.items[key].State) {
			continue
		}
		for above := gopath.Dir(key.Name); above != "/"; above = gopath.Dir(above) {
			t.addParent(path(above))
		}
	}
}

func (t *translator) addParent(key ledger.Key) {
	if item, declared := t.items[key]; declared {
		t.require(key, item.State.Type == hostfs.Directory, "%s must be a directory, because something is declared below it", key.Name)
		return
	}
	switch original := t.original(key); {
	case isAbsent(original):
		t.add(Item{Key: key, State: directory(defaultDirectory, 0, 0)})
	case original.Type != hostfs.Directory:
		t.refuse(key, fmt.Errorf("%s is a %s: declare the paths below it elsewhere, or declare it as a directory with overwrite", key.Name, original.Type))
	}
}

// check returns what keeps an item from replacing what is on the host.
func (t *translator) check(item Item) error {
	if item.Kind != ledger.Path {
		return nil
	}
	original, found := t.original(item.Key), t.facts.States[item.Key]
	want := asFile(item.State.Type)
	switch {
	case original.Type == hostfs.Other || found.Type == hostfs.Other:
		return fmt.Errorf("%s is a device, pipe or socket, which opcrew does not replace: declare another path", item.Name)
	case !isAbsent(original) && want != hostfs.Absent && asFile(original.Type) != want && !item.Overwrite:
		return fmt.Errorf("%s is a %s: declare overwrite: true to replace it by a %s, or declare another path", item.Name, original.Type, want)
	case !isStorable(original):
		return fmt.Errorf("%s is a link whose target is not valid UTF-8, which opcrew could not restore: declare another path", item.Name)
	case found.IsLarge() && found.Hash == original.Hash && item.replaces(found):
		return fmt.Errorf("%s has more than %d bytes, the most that opcrew keeps a copy of: move the file away, or declare another path", item.Name, hostfs.MaxHash)
	case found.Type == hostfs.Directory && want != hostfs.Directory:
		return t.checkEmpty(item)
	}
	return nil
}

// replaces reports whether the item has another content than a file that was found.
func (i Item) replaces(found ledger.State) bool {
	return i.State.Type != hostfs.File || i.State.Hash != "" && i.State.Hash != found.Hash
}

// asFile returns the type that a hard link has on disk.
func asFile(entry hostfs.Type) hostfs.Type {
	if entry == ledger.HardLink {
		return hostfs.File
	}
	return entry
}

// checkEmpty refuses to replace a directory, unless opcrew created all its entries and now removes them.
func (t *translator) checkEmpty(item Item) (err error) {
	for _, name := range t.facts.Names[item.Name] {
		key := path(gopath.Join(item.Name, name))
		record, known := t.ledger.Records[key]
		if _, declared := t.items[key]; !known || declared || !isAbsent(record.Before) {
			err = errors.Join(err, fmt.Errorf("%s is a directory that contains %s: remove its entries first, or declare another path", item.Name, name))
		}
	}
	return err
}
