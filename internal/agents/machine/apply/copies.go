// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/plan"
)

// copyOriginals copies the files that steps replace.
func (h *Host) copyOriginals(p plan.Plan) error {
	for _, key := range p.Copies {
		content, found, err := h.FS.ReadFile(key.Name, ledger.MaxCopy)
		if err != nil {
			return err
		}
		if found.Hash != p.Intent.Records[key].Before.Hash {
			return fmt.Errorf("%s: %w", key.Name, errChanged)
		}
		if err := h.Store.Keep(content); err != nil {
			return err
		}
	}
	return nil
}
