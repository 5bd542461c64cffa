// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kinds of alarms in etcd.
const (
	AlarmNoSpace = "NOSPACE"
	AlarmCorrupt = "CORRUPT"
)

// Alarm is an alarm that etcd raises for a member. Each member lists the alarms of all members.
type Alarm struct {
	Member uint64
	Kind   string
}

// Alarms returns the alarms that any member lists, sorted and without duplicates. A member that lags may list fewer
// alarms than the others.
func (v View) Alarms() []Alarm {
	var out []Alarm
	for _, status := range v.Status {
		out = append(out, status.Alarms()...)
	}
	slices.SortFunc(out, func(a, b Alarm) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member)) })
	return slices.Compact(out)
}

func (a Alarm) String() string { return fmt.Sprintf("%s of member %x", a.Kind, a.Member) }

// Alarms returns the alarms among the errors in a member's status. etcd lists them there since 3.4.
func (s MemberStatus) Alarms() []Alarm {
	var out []Alarm
	for _, line := range s.Errors {
		if alarm, ok := parseAlarm(line); ok {
			out = append(out, alarm)
		}
	}
	return out
}

// parseAlarm parses a line such as "memberID:10501334649042878790 alarm:NOSPACE". It is the text form of a protobuf
// message, in which the number of spaces may vary.
func parseAlarm(line string) (Alarm, bool) {
	var alarm Alarm
	for field := range strings.FieldsSeq(strings.ReplaceAll(line, ": ", ":")) {
		if id, ok := strings.CutPrefix(field, "memberID:"); ok {
			alarm.Member, _ = strconv.ParseUint(id, 10, 64)
		}
		if kind, ok := strings.CutPrefix(field, "alarm:"); ok {
			alarm.Kind = kind
		}
	}
	return alarm, alarm.Kind != ""
}
