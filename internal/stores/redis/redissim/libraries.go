// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"maps"
	"slices"
	"strings"
)

// footer replaces the version and the checksum at the end of a real FUNCTION DUMP.
const footer = "\nfooter..."

// Load makes a client load a function library on all primaries that have slots.
func (w *World) Load(cluster, library string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.of(cluster) {
		if n.leads() {
			n.load(library)
		}
	}
}

// Without returns the address of a server that should have a function library but lacks it: a primary with slots, or a
// replica in sync. It returns "" if there is none.
func (w *World) Without(cluster, library string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.of(cluster) {
		if (n.leads() || n.synced) && !n.libraries[library] {
			return n.Address
		}
	}
	return ""
}

func (n *node) load(library string) {
	for _, at := range append(n.followers(), n) {
		at.libraries[library] = true
	}
}

// dumpLibraries implements FUNCTION DUMP.
func (n console) dumpLibraries([]string) (any, error) {
	return strings.Join(slices.Sorted(maps.Keys(n.libraries)), ",") + footer, nil
}

// restoreLibraries implements FUNCTION RESTORE <dump> REPLACE. It identifies libraries by name only.
func (n console) restoreLibraries(args []string) (any, error) {
	names, whole := strings.CutSuffix(args[0], footer)
	switch {
	case n.primary != "":
		return nil, refuse("READONLY You can't write against a read only replica.")
	case !whole:
		return nil, refuse("ERR DUMP payload version or checksum are wrong")
	}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == ',' }) {
		n.load(name)
	}
	return "OK", nil
}
