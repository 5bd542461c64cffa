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

// Kinds of alarms.
const (
	AlarmNoSpace = "NOSPACE"
	AlarmCorrupt = "CORRUPT"
)

// Alarm is an alarm of a member. All members list the alarms of all.
type Alarm struct {
	Member uint64
	Kind   string
}

// Alarms are the alarms that any member lists, without duplicates. All members list the same, or will.
func (v View) Alarms() []Alarm {
	var out []Alarm
	for _, status := range v.Status {
		out = append(out, status.Alarms()...)
	}
	slices.SortFunc(out, func(a, b Alarm) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member)) })
	return slices.Compact(out)
}

func (a Alarm) String() string { return fmt.Sprintf("%s of member %x", a.Kind, a.Member) }

// Alarms are the alarms among a status's errors, from etcd 3.4 on.
func (s MemberStatus) Alarms() []Alarm {
	var out []Alarm
	for _, line := range s.Errors {
		if alarm, ok := parseAlarm(line); ok {
			out = append(out, alarm)
		}
	}
	return out
}

// parseAlarm reads "memberID:10501334649042878790 alarm:NOSPACE", the text of a protobuf message, in which the number of spaces
// may change.
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
