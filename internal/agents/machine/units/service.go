// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"context"
	"slices"
	"strings"
)

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
