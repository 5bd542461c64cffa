// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"
)

// title formats the line of a step.
type title struct {
	number, of int
	name       string
	expected   time.Duration
	unit       string
	total      int
}

// running returns the line of a step that still runs. units is the number of units of work that it has done.
func (t title) running(elapsed time.Duration, units int) string {
	return t.begin() + seconds(elapsed) + t.expectation() + t.units(units)
}

// done returns the line of a completed step. It leaves out the total number of units, because a step skips work that
// earlier runs have done and may not reach the total.
func (t title) done(elapsed time.Duration, units int) string {
	t.total = 0
	return t.running(elapsed, units)
}

func (t title) failed(elapsed time.Duration) string {
	return t.begin() + "failed after " + seconds(elapsed)
}

func (t title) begin() string {
	return fmt.Sprintf("[%2d/%d] %-44s ", t.number, t.of, t.name)
}

func (t title) expectation() string {
	if t.expected == 0 {
		return ""
	}
	return fmt.Sprintf(" (expected %.0f s)", t.expected.Seconds())
}

func (t title) units(units int) string {
	switch {
	case units == 0:
		return ""
	case t.total >= units:
		return fmt.Sprintf(", %d of %d %s", units, t.total, t.unit)
	default:
		return fmt.Sprintf(", %d %s", units, t.unit)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%4.0f s", d.Seconds()) }
