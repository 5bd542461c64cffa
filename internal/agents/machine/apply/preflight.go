// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/plan"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// preflight returns everything that would make a step fail. It changes nothing.
func (h *Host) preflight(p plan.Plan) error {
	var errs []error
	for _, s := range p.Steps {
		switch s.Kind {
		case ledger.Path:
			errs = append(errs, h.FS.Changeable(s.Name))
		case ledger.Keys, ledger.Password, ledger.Boot:
			errs = append(errs, h.FS.Changeable(partFile(s.Key)))
		}
	}
	for _, key := range p.Copies {
		errs = append(errs, h.copyable(key.Name))
	}
	if len(p.Steps) > 0 {
		errs = append(errs, h.FS.Changeable(hostconfig.StateDirectory))
	}
	return errors.Join(errs...)
}

func (h *Host) copyable(p string) error {
	size, err := h.FS.Size(p)
	if err == nil && size > ledger.MaxCopy {
		err = fmt.Errorf("%s has %d bytes, and opcrew keeps a copy of at most %d: move the file away, or declare another path", p, size, ledger.MaxCopy)
	}
	return err
}
