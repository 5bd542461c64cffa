// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"errors"

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
	if len(p.Steps) > 0 {
		errs = append(errs, h.FS.Changeable(hostconfig.StateDirectory))
	}
	return errors.Join(errs...)
}
