// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"context"
	"slices"
	"strings"
)

// Service is what systemd knows about a unit now, in its own words.
type Service struct {
	// Load is the state of the unit file, such as loaded, not-found or masked.
	Load string
	// Active is the state of the unit, such as active, inactive or failed.
	Active string
}

// CanStart reports whether systemd has a unit file from which it can start the unit.
func (s Service) CanStart() bool { return s.Load != NotFound && s.Load != Masked }

// Runs reports whether the unit is started, or about to be.
func (s Service) Runs() bool {
	return !slices.Contains([]string{"", "inactive", "failed", "deactivating"}, s.Active)
}

// Service asks systemd about a unit. systemctl show exits without an error for a unit that does not exist.
func (s Systemctl) Service(ctx context.Context, unit string) (Service, error) {
	out, err := s.run(ctx, "show --property=LoadState,ActiveState", unit)
	return parseService(out), err
}

// Started reports whether systemd has started all units of the boot. systemctl exits with an error for most states, so
// the word counts. A host whose systemd does not answer has started.
func (s Systemctl) Started(ctx context.Context) bool {
	word, _ := s.run(ctx, "is-system-running")
	return !slices.Contains([]string{"initializing", "starting"}, strings.TrimSpace(word))
}

func parseService(out string) (s Service) {
	for line := range strings.Lines(out) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "LoadState":
			s.Load = value
		case "ActiveState":
			s.Active = value
		}
	}
	return s
}
