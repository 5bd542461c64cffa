// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schedule parses cron schedules, and finds the scheduled time that is due. The kinds decide what to do at that
// time.
package schedule

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a parsed cron schedule with its time zone.
type Schedule struct {
	times cron.Schedule
	zone  *time.Location
}

// longest is the maximum length of a schedule and of a time zone name, in bytes.
const longest = 1000

// Parse parses a cron schedule of five fields. The time zone is a separate parameter, as in a CronJob; empty means UTC.
// Errors name the field of the spec, and what to write instead.
func Parse(text, zone string) (Schedule, error) {
	if len(text) > longest || len(zone) > longest {
		return Schedule{}, fmt.Errorf("schedule %.40q or timeZone %.40q is longer than %d bytes: write five fields such as \"0 3 * * *\"", text, zone, longest)
	}
	if strings.HasPrefix(text, "@every") {
		return Schedule{}, fmt.Errorf("schedule %q states how often to run; state the times instead, in five fields such as \"*/10 * * * *\"", text)
	}
	if strings.Contains(text, "TZ") {
		return Schedule{}, fmt.Errorf("schedule %q contains a time zone; write it into timeZone instead", text)
	}
	location, err := Zone(zone)
	if err != nil {
		return Schedule{}, err
	}
	times, err := cron.ParseStandard(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q: %w; write five fields such as \"0 3 * * *\"", text, err)
	}
	return Schedule{times, location}, nil
}

// Zone parses the name of a time zone by the same rules as Parse.
func Zone(name string) (*time.Location, error) {
	location, err := time.LoadLocation(cmp.Or(name, "UTC"))
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("timeZone %q is unknown; write a time zone such as Europe/Berlin", name)
	}
	return location, nil
}

// Next returns the first scheduled time after the given time; zero if there is none.
func (s Schedule) Next(after time.Time) time.Time { return s.times.Next(after.In(s.zone)) }

// Latest returns the last scheduled time t with after < t <= until; zero if there is none. It searches backwards,
// because a schedule that was suspended for years may have missed millions of times.
func (s Schedule) Latest(after, until time.Time) time.Time {
	const day = 24 * time.Hour
	for _, span := range []time.Duration{time.Hour, day, 32 * day, 366 * day} {
		if from := until.Add(-span); from.After(after) {
			if last := s.lastBetween(from, until); !last.IsZero() {
				return last
			}
		}
	}
	return s.lastBetween(after, until)
}

func (s Schedule) lastBetween(after, until time.Time) time.Time {
	var last time.Time
	for t := s.Next(after); !t.IsZero() && !t.After(until); t = s.Next(t) {
		last = t
	}
	return last
}
