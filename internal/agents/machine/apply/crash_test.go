// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// transition is a change of configuration that the crash tests interrupt.
type transition struct {
	name     string
	from, to hostconfig.Config
	// confined is set for a host with a simulated policy of SELinux.
	confined bool
}

func transitions() []transition {
	return []transition{
		{name: "first application", from: none(), to: first()}, {name: "change", from: first(), to: second()},
		{name: "change back", from: second(), to: first()}, {name: "removal of the first", from: first(), to: none()},
		{name: "removal of the second", from: second(), to: none()}, {name: "paths only", from: none(), to: paths()},
		{name: "removal of paths", from: paths(), to: none()},
	}
}

// paths is a configuration without units, whose changes systemd would sync.
func paths() hostconfig.Config {
	c := first()
	return hostconfig.Config{Name: "rendered-3", Directories: c.Directories, Files: c.Files, Links: c.Links, Users: c.Users}
}

// start returns a machine with the configuration from which a transition starts, and the host before opcrew.
func (tr transition) start(t testing.TB) (*machine, snapshot) {
	t.Helper()
	disk := disktest.New()
	m := boot(t, disk)
	fixture(t, m)
	if tr.confined {
		m.Confine(t)
		disk.Sync()
	}
	before := m.Snapshot(t)
	if tr.from.Name != "none" {
		m.apply(t, tr.from)
	}
	disk.Sync()
	return m, before
}

// end is a host after a transition without a crash.
type end struct {
	snapshot
	ledger ledger.Ledger
}

func (tr transition) end(t testing.TB) (end, snapshot) {
	t.Helper()
	m, before := tr.start(t)
	m.apply(t, tr.to)
	return end{m.Snapshot(t), m.ledger(t)}, before
}

// interrupt starts a transition and crashes at a writing call; done is true if the transition needs fewer calls.
func (tr transition) interrupt(t testing.TB, m *machine, crash int) (done bool) {
	t.Helper()
	disk := m.Disk.(*disktest.Disk)
	disk.Crash(crash)
	_, err := m.host.Apply(context.Background(), tr.to)
	done = disk.Calls() <= crash
	if done {
		must(t, err)
	} else if !errors.Is(err, disktest.ErrCrashed) {
		t.Fatalf("crash at %d: expected the crash to be reported, got %v", crash, err)
	}
	disk.Restart()
	return done
}

// expect completes a transition, and compares with an uninterrupted one. Then it removes everything.
func (tr transition) expect(t *testing.T, m *machine, want end, before snapshot, crash int) {
	t.Helper()
	m.apply(t, tr.to)
	if diff := cmp.Diff(want.snapshot, m.Snapshot(t)); diff != "" {
		t.Fatalf("crash at %d: expected the host as without a crash: %s", crash, diff)
	}
	if diff := cmp.Diff(want.ledger, m.ledger(t)); diff != "" {
		t.Fatalf("crash at %d: expected the ledger as without a crash: %s", crash, diff)
	}
	if crash%removals == 0 {
		tr.remove(t, m, before, crash)
	}
}

// removals is after how many crashes the tests also remove everything, to save time. It has no divisor in common with
// the number of calls for one change.
const removals = 7

func (tr transition) remove(t *testing.T, m *machine, before snapshot, crash int) {
	t.Helper()
	m.apply(t, none())
	if diff := cmp.Diff(before, m.Snapshot(t)); diff != "" {
		t.Fatalf("crash at %d: expected the host as before opcrew: %s", crash, diff)
	}
	if l := m.ledger(t); len(l.Records) > 0 {
		t.Fatalf("crash at %d: expected an empty ledger, got %+v", crash, l.Records)
	}
}

// eachCrash calls test for every writing call at which a transition can crash.
func eachCrash(t *testing.T, test func(t *testing.T, tr transition, m *machine, want end, before snapshot, crash int, done bool)) {
	for _, tr := range transitions() {
		t.Run(tr.name, func(t *testing.T) {
			want, before := tr.end(t)
			for crash := 0; ; crash++ {
				m, _ := tr.start(t)
				done := tr.interrupt(t, m, crash)
				test(t, tr, m, want, before, crash, done)
				if done {
					t.Logf("%d writing calls", crash)
					return
				}
			}
		})
	}
}

func TestACrashAtAnyWritingCallHealsByTheNextApplication(t *testing.T) {
	eachCrash(t, func(t *testing.T, tr transition, m *machine, want end, before snapshot, crash int, _ bool) {
		tr.expect(t, m, want, before, crash)
	})
}

// TestACrashCanBeFollowedByAnotherConfiguration reverts, as the agent does when a change cuts the node off.
func TestACrashCanBeFollowedByAnotherConfiguration(t *testing.T) {
	eachCrash(t, func(t *testing.T, tr transition, m *machine, _ end, before snapshot, crash int, _ bool) {
		revert := transition{name: "revert", from: none(), to: tr.from}
		want, _ := revert.end(t)
		m.apply(t, tr.from)
		if diff := cmp.Diff(want.snapshot, m.Snapshot(t)); diff != "" {
			t.Fatalf("crash at %d: expected the host as before the change: %s", crash, diff)
		}
		tr.remove(t, m, before, crash)
	})
}

func TestAPowerLossAtAnyWritingCallHealsByTheNextApplication(t *testing.T) {
	states := 0
	eachCrash(t, func(t *testing.T, tr transition, m *machine, want end, before snapshot, crash int, done bool) {
		if !done && !m.Disk.(*disktest.Disk).AtSync() {
			return
		}
		m.Disk.(*disktest.Disk).PowerLosses(func(after *disktest.Disk) {
			states++
			tr.expect(t, boot(t, after), want, before, crash)
		})
	})
	t.Logf("%d states", states)
}

// TestAPowerLossAfterARecoveryLosesNothing crashes the process, starts it again, lets it complete, and then loses all
// that was not synced: what the first process changed must be on disk, too.
func TestAPowerLossAfterARecoveryLosesNothing(t *testing.T) {
	eachCrash(t, func(t *testing.T, tr transition, m *machine, want end, before snapshot, crash int, _ bool) {
		if crash%2 > 0 {
			return
		}
		m.apply(t, tr.to)
		m.Disk.(*disktest.Disk).PowerLosses(func(after *disktest.Disk) {
			again := boot(t, after)
			if diff := cmp.Diff(want.Tree, again.Snapshot(t).Tree); diff != "" {
				t.Fatalf("crash at %d: expected the host as without a crash: %s", crash, diff)
			}
			tr.expect(t, again, want, before, crash)
		})
	})
}

// TestTwoCrashesHeal crashes again while the next process recovers, and then loses power.
func TestTwoCrashesHeal(t *testing.T) {
	const apart = 61 // every 61st call, because all pairs would take minutes
	eachCrash(t, func(t *testing.T, tr transition, m *machine, want end, before snapshot, crash int, _ bool) {
		if crash%apart != 0 {
			return
		}
		for second := 0; ; second += apart {
			m, _ := tr.start(t)
			tr.interrupt(t, m, crash)
			if tr.interrupt(t, m, second) {
				return
			}
			m.Disk.(*disktest.Disk).PowerLosses(func(after *disktest.Disk) {
				tr.expect(t, boot(t, after), want, before, crash)
			})
		}
	})
}
