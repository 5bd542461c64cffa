// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"slices"
	"testing"

	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/faults/naive"
)

// planted lists at least one bug for every class of faults. The cases of this class must find the bug: one of them must
// fail with a message that contains the text that the entry specifies.
var planted = []struct {
	class string
	bug   naive.Bug
	words string
}{
	{"crash-after", naive.KeyMeansSign, "there is no ConfigMap corner-sign"},
	{"crash-after", naive.LedgerInMemory, "corner"},
	{"crash-before", naive.StatusFirst, "not within"},
	{"crash-often", naive.WritesAtStart, "not within"},
	{"lost", naive.RandomNames, "created"},
	{"conflict", naive.IgnoresConflicts, "not within"},
	{"conflict", naive.OverwritesOthers, "the operator preserves what another client wrote"},
	{"refused-forbidden", naive.GivesUpForbidden, "not within"},
	{"refused-throttled", naive.Impatient, "the object reports Ready, but"},
	{"refused-error", naive.GivesUpErrors, "not within"},
	{"refused-denied", naive.KeepsQuiet, "no condition has the words"},
	{"refused-quota", naive.ReadyAnyway, "the object reports Ready, but"},
	{"late", naive.Polls, "created"},
	{"held", naive.Polls, "created"},
	{"coalesced", naive.CleansOnDelete, "corner"},
	{"relist", naive.IgnoresTombstones, "corner"},
	{"older-view", naive.TrustsOldViews, "created"},
	{"reborn", naive.RemembersNames, "not within"},
	{"two-leaders", naive.LeavesItsMark, "does not stop writing"},
	{"restart", naive.WritesAtStart, "although it had nothing to do"},
	{"extra", naive.WritesAlways, "although it had nothing to do"},
}

func TestEveryClassOfFaultsFindsAPlantedBug(t *testing.T) {
	hunt := faults.NewHunt(t, shops())
	missing := faults.Classes()
	for _, row := range planted {
		missing = slices.DeleteFunc(missing, func(class string) bool { return class == row.class })
		hunt.Add(row.class+": "+string(row.bug), shops(row.bug), row.class, row.words)
	}
	if len(missing) > 0 {
		t.Errorf("expected a planted bug for every class of faults, there is none for %v", missing)
	}
	hunt.Run()
}
