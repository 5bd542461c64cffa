// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import "path/filepath"

// part is one of opcrew's three images: the operator, the agent or the backup image.
type part struct {
	// variable is the Makefile variable with the image's name.
	variable, name string
	// program is the name of the binary. The binary is in bin, and at the root of the image.
	program string
	// also lists other programs in the image. They are at the same places.
	also []string
	// certificates is set if the program calls external services, whose certificates public authorities signed.
	certificates bool
}

func (i Images) list() []part {
	return []part{
		{operatorVariable, i.Operator, "opcrew", nil, true},
		{agentVariable, i.Agent, "opcrew-agent", []string{"opcrew-machine"}, false},
		{backupVariable, i.Backup, "opcrew-backup", nil, true},
	}
}

// programs returns all programs in the image.
func (p part) programs() []string { return append([]string{p.program}, p.also...) }

// tar returns the path of the tar file in which Build saves the image.
func (p part) tar(bin string) string { return filepath.Join(bin, p.program+".tar") }

// Build builds opcrew's three images from the programs in bin, and saves them there.
func (i Images) Build(bin string) error {
	if err := i.Buildable(); err != nil {
		return err
	}
	for _, p := range i.list() {
		if err := p.build(bin); err != nil {
			return err
		}
	}
	return nil
}
