// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestAResultFitsIntoATerminationMessage(t *testing.T) {
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("b/shop_v%d_2026-07-08-12:00:00", i))
	}
	for name, r := range map[string]Result{
		"many objects":   {Outcome: Succeeded, Object: many[0], Pruned: len(many), PrunedObjects: many},
		"a long message": {Outcome: Failed, Reason: ReasonStoreFailed, Message: strings.Repeat("é\x01", 9000), PrunedObjects: many},
		"quotes":         {Outcome: Failed, Object: strings.Repeat(`"`, 930), Message: strings.Repeat(`"`, 9000)},
	} {
		t.Run(name, func(t *testing.T) {
			text := r.Encode()
			got, err := ParseResult(string(text))
			if len(text) > MaxResult || err != nil || got.Outcome != r.Outcome || got.Object != r.Object || got.Pruned != r.Pruned {
				t.Errorf("%d bytes, %v: %s", len(text), err, text)
			}
			if len(many) != 1000 || strings.Count(string(text), "\n") != 1 {
				t.Errorf("expected one line, got %s", text)
			}
		})
	}
}

func TestAResultIsReadAsItWasWritten(t *testing.T) {
	want := Result{Outcome: Succeeded, Object: "b/<shop>&", Revision: 5, SavedAt: noon, Verification: &Verification{Revision: 6, HashCompared: true}}
	if got, err := ParseResult(string(want.Encode())); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("expected %+v, got %+v, %v", want, got, err)
	}
}

func TestAnInvalidResultIsRefused(t *testing.T) {
	for _, text := range []string{"", "x", "{}", "null", `{"outcome":"Great"}`, `{"outcome":"Succeeded"`} {
		if r, err := ParseResult(text); err == nil {
			t.Errorf("%s: got %+v", text, r)
		}
	}
}

func TestTheFirstReasonOfAnErrorCounts(t *testing.T) {
	inner := Fail(ReasonDiskFull, "full: %w", errors.ErrUnsupported)
	if got := ReasonOf(fmt.Errorf("save: %w", inner), ""); got != ReasonDiskFull || !errors.Is(inner, errors.ErrUnsupported) {
		t.Errorf("got %q of %v", got, inner)
	}
	if got := ReasonOf(errors.ErrUnsupported, ReasonStoreFailed); got != ReasonStoreFailed {
		t.Errorf("got %q", got)
	}
}
