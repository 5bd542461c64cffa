// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/selinux"
)

// addLabels adds the step that sets the SELinux labels of what opcrew creates. The ledger also names what a process
// created that crashed before this step.
func (b *builder) addLabels() {
	var paths []string
	for _, r := range b.intent {
		if r.Unlabelled {
			paths = append(paths, r.Name)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	switch host := b.facts.SELinux; {
	case len(paths) == 0 || !host.Enabled:
	case host.Program == "":
		b.labels = append(b.labels, selinux.Missing(paths))
	default:
		b.steps = append(b.steps, Step{Do: SetLabels, Paths: paths})
	}
}

// needsLabel reports whether a step leaves an entry with the label of its directory, because it creates it under a
// temporary name, which no rule of the policy is about. What replaces an entry keeps its label, and an original has one.
func (b *builder) needsLabel(r ledger.Record, s Step) bool {
	isCreated := r.Unlabelled || asFile(s.From.Type) != s.To.Type
	hasLabel := slices.Contains([]hostfs.Type{hostfs.File, hostfs.Directory, hostfs.Link}, s.To.Type)
	isPath := s.Kind == ledger.Path || s.Kind == ledger.Keys
	return b.facts.SELinux.Enabled && isPath && hasLabel && isCreated && s.To.Label == ""
}
