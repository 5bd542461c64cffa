// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/plan"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Revert changes the host to a configuration that it had before, as far as it can. It refuses nothing, and goes on
// after a step that fails: a node that is cut off must get back what brings it into contact.
func (h *Host) Revert(ctx context.Context, c hostconfig.Config) (Result, error) {
	l, err := h.recovered()
	if err != nil {
		return Result{}, err
	}
	f, problem := h.observe(ctx, l, c)
	p := plan.Tolerant(c, l, f)
	out, err := h.execute(ctx, l, p, true)
	if err != nil {
		err = errors.Join(err, h.preflight(p)) // it says what to do about a file that cannot change
	}
	return out, errors.Join(problem, err)
}

// Notes are what a user should know of a change that is complete.
func (r Result) Notes() []string {
	out := slices.Concat(r.Left, r.Labels)
	for _, c := range r.Conflicts {
		if c.Problem != nil {
			out = append(out, c.String())
		}
	}
	return out
}
