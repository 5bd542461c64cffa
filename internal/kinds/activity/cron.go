// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// parse reads a schedule. The time zone stands in its own field, as in a CronJob.
func parse(a *egov1.Activity) (cron.Schedule, *time.Location, error) {
	text := *a.Spec.Schedule
	if strings.HasPrefix(text, "@every") {
		return nil, nil, fmt.Errorf("schedule %q: write when, and not how often, in five fields such as \"*/10 * * * *\"", text)
	}
	if strings.Contains(text, "TZ") {
		return nil, nil, fmt.Errorf("schedule %q: write the time zone into timeZone", text)
	}
	zone, err := time.LoadLocation(ptr.Deref(a.Spec.TimeZone, "UTC"))
	if err != nil || ptr.Deref(a.Spec.TimeZone, "") == "Local" {
		return nil, nil, fmt.Errorf("timeZone %q is not known; write one such as Europe/Berlin", *a.Spec.TimeZone)
	}
	s, err := cron.ParseStandard(text)
	if err != nil {
		return nil, nil, fmt.Errorf("schedule %q: %w; write five fields such as \"0 3 * * *\"", text, err)
	}
	return s, zone, nil
}

// latest is the last time of a schedule after one and not after another, zero for none. It
// looks from near the end first: a minute's schedule that slept for years has missed millions.
func latest(s cron.Schedule, after, until time.Time) time.Time {
	const day = 24 * time.Hour
	for _, span := range []time.Duration{time.Hour, day, 32 * day, 366 * day} {
		if from := until.Add(-span); from.After(after) {
			if last := lastBetween(s, from, until); !last.IsZero() {
				return last
			}
		}
	}
	return lastBetween(s, after, until)
}

func lastBetween(s cron.Schedule, after, until time.Time) time.Time {
	var last time.Time
	for t := s.Next(after); !t.IsZero() && !t.After(until); t = s.Next(t) {
		last = t
	}
	return last
}
