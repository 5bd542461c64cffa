// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package journal

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func state(config string) State {
	return State{
		Order:   machineorder.Order{Config: config, Digest: "sha256-" + strings.Repeat("0", 64), Drift: machineorder.AdoptDrift},
		Outcome: Reverted, Message: "because", RevertedTo: "rendered-0", BootID: "b",
	}
}

func TestAPowerLossLeavesTheOldOrTheNewJournal(t *testing.T) {
	for crash := 0; ; crash++ {
		disk := disktest.New()
		store := NewStore(hostfs.New(disk), "/state")
		must(t, store.Save(state("old")))
		disk.Crash(crash)
		err := store.Save(state("new"))
		complete := disk.Calls() <= crash
		disk.PowerLosses(func(after *disktest.Disk) {
			got, err := NewStore(hostfs.New(after), "/state").Load()
			must(t, err)
			if !cmp.Equal(got, state("new")) && (complete || !cmp.Equal(got, state("old"))) {
				t.Errorf("crash at %d: expected the old or the new journal, got %+v", crash, got)
			}
		})
		if complete {
			must(t, err)
			return
		}
	}
}

func TestAMissingJournalIsEmptyAndADamagedOneAnError(t *testing.T) {
	fs := hostfs.New(disktest.New())
	store := NewStore(fs, "/state")
	if got, err := store.Load(); err != nil || got.Outcome != "" {
		t.Errorf("expected an empty journal, got %+v and %v", got, err)
	}
	good, err := json.Marshal(state("a"))
	must(t, err)
	for _, text := range []string{"", "{}", string(good) + "{}", string(good[:20]), strings.Replace(string(good), "Reverted", "Later", 1), strings.Replace(string(good), "{", `{"more":1,`, 1)} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.60s: expected an error", text)
		}
	}
}

func TestAPolicyIsNoOtherChange(t *testing.T) {
	s := state("a")
	order := s.Order
	order.Drift = machineorder.RepairDrift
	if !s.Settles(&order) || s.Settles(nil) {
		t.Error("expected the result to be about the order with another policy, and not about none")
	}
	order.Digest = "sha256-" + strings.Repeat("1", 64)
	if s.IsAbout(&order) {
		t.Error("expected another content to be another change")
	}
	s.Outcome = ""
	if s.Settles(&s.Order) {
		t.Error("expected an order in progress to have no result")
	}
}
