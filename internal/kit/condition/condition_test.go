// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package condition

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	noon  = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Hour)
)

func set(generation int64, now time.Time, list *[]metav1.Condition) Set {
	return Set{Conditions: list, Generation: generation, Now: now}
}

func TestAConditionSaysWhatWhyAndForWhichGeneration(t *testing.T) {
	var list []metav1.Condition
	s := set(3, noon, &list)
	s.True("Stored", "Bound", "The volume is bound")
	s.False("Served", "NoPod", "No pod is ready")
	s.Unknown("Replicated", "ReadFailed", "timeout")
	want := []metav1.Condition{
		{Type: "Stored", Status: "True", Reason: "Bound", Message: "The volume is bound", ObservedGeneration: 3, LastTransitionTime: metav1.NewTime(noon)},
		{Type: "Served", Status: "False", Reason: "NoPod", Message: "No pod is ready", ObservedGeneration: 3, LastTransitionTime: metav1.NewTime(noon)},
		{Type: "Replicated", Status: "Unknown", Reason: "ReadFailed", Message: "timeout", ObservedGeneration: 3, LastTransitionTime: metav1.NewTime(noon)},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	s.Remove("Served")
	if len(list) != 2 {
		t.Errorf("%d conditions after one was removed, expected 2", len(list))
	}
}

func TestTheTimeIsThatOfTheLastChangeOfTheStatus(t *testing.T) {
	var list []metav1.Condition
	set(1, noon, &list).False("Ready", "NoPod", "none")
	set(2, later, &list).False("Ready", "Crash", "again")
	if at := list[0].LastTransitionTime.Time; !at.Equal(noon) {
		t.Errorf("another reason moved the time to %s, expected %s", at, noon)
	}
	if list[0].ObservedGeneration != 2 || list[0].Reason != "Crash" {
		t.Errorf("condition %v, expected the new reason and generation", list[0])
	}
	set(2, later, &list).True("Ready", "AsWanted", "")
	if at := list[0].LastTransitionTime.Time; !at.Equal(later) {
		t.Errorf("ready since %s, expected since %s", at, later)
	}
}

func TestAConditionThatACRDSetByDefaultGetsTheTimeOfTheFirstReconcile(t *testing.T) {
	list := []metav1.Condition{{Type: "Ready", Status: "Unknown", Reason: "Pending", LastTransitionTime: metav1.NewTime(time.Unix(0, 0))}}
	set(1, noon, &list).Unknown("Ready", "ReadFailed", "timeout")
	if at := list[0].LastTransitionTime.Time; !at.Equal(noon) {
		t.Errorf("unknown since %s, expected since the first look at %s", at, noon)
	}
}

func TestAMessageHasNoCharactersThatChangeATerminal(t *testing.T) {
	var list []metav1.Condition
	set(1, noon, &list).True("Ready", "AsWanted", "a\x1b[2Jb\x00c\u202ed\u2066e\u200ff\nשלום é 容")
	if got, want := list[0].Message, "a [2Jb c d e f\nשלום é 容"; got != want {
		t.Errorf("expected %q, got %q", want, got)
	}
}

func TestALongMessageIsCutWhereACharacterEnds(t *testing.T) {
	for name, message := range map[string]string{
		"one byte a character":    strings.Repeat("x", 3000),
		"three bytes a character": strings.Repeat("容", 1000),
		"one more byte before":    "x" + strings.Repeat("容", 1000),
		"two more bytes before":   "xx" + strings.Repeat("容", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			var list []metav1.Condition
			set(1, noon, &list).True("Ready", "AsWanted", message)
			got := list[0].Message
			if len(got) > 1024 || len(got) < 1020 || !strings.HasSuffix(got, "...") {
				t.Errorf("it has %d bytes and ends in %q, expected at most 1024 and an ellipsis", len(got), got[len(got)-3:])
			}
			if !utf8.ValidString(got) {
				t.Error("half a character is left: the server stores something else, and the status is written for ever")
			}
		})
	}
	var list []metav1.Condition
	set(1, noon, &list).True("Ready", "AsWanted", strings.Repeat("x", 1024))
	if len(list[0].Message) != 1024 || strings.HasSuffix(list[0].Message, "...") {
		t.Error("a message of exactly 1024 bytes is cut, expected it whole")
	}
}

func TestWordsThatAreNoTextAreMadeText(t *testing.T) {
	var list []metav1.Condition
	set(1, noon, &list).False("Ready", "StoreSaid", "ERR \xff\xfe bad")
	if !utf8.ValidString(list[0].Message) {
		t.Errorf("message %q, expected valid UTF-8: the server stores something else, and the status is written for ever", list[0].Message)
	}
}
