// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/schedule"
)

// scaled returns a number or percentage of all hosts, at least 1. Admission has checked the text of a percentage.
func scaled(value intstr.IntOrString, total int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&value, total, up)
	if err != nil {
		return 1
	}
	return max(1, n)
}

// most returns how many hosts may be unavailable at the same time.
func (in *Input) most() int {
	return scaled(ptr.Deref(in.Limits.MaxUnavailable, intstr.FromInt32(egov1.DefaultMaxUnavailable)), in.total(), false)
}

// wave returns how many hosts may have started before the run waits until all of them have ended: those of the canary,
// those of the current batch, or all.
func (in *Input) wave() int {
	ended, total := in.count((*Host).over), in.total()
	var ends []int
	if c := in.Limits.Canary; c != nil {
		ends = append(ends, int(c.Hosts))
	}
	for _, batch := range in.Limits.Batches {
		ends = append(ends, scaled(batch, total, true))
	}
	for _, end := range ends {
		if ended < end {
			return min(end, total)
		}
	}
	return total
}

// opening is the state of the maintenance window.
type opening struct {
	wrong string
	open  bool
	next  time.Time
}

// windowAt returns the state of a maintenance window at a time. Without a window hosts may always start.
func windowAt(w *egov1.Window, now time.Time) opening {
	if w == nil {
		return opening{open: true}
	}
	s, err := schedule.Parse(w.Schedule, w.TimeZone)
	if err != nil {
		return opening{wrong: "spec.hosts.window: " + err.Error()}
	}
	opened := s.Latest(now.Add(-time.Duration(w.DurationSeconds)*time.Second), now)
	return opening{open: !opened.IsZero(), next: s.Next(now)}
}
