// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/machine/drift"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/hosttest"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/selinux"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// confined starts a machine with a simulated policy of SELinux.
func confined(t *testing.T) *machine {
	t.Helper()
	m := start(t)
	m.Confine(t)
	m.Calls = nil
	return m
}

func (m *machine) expectLabels(t testing.TB) {
	t.Helper()
	for key, r := range m.ledger(t).Records {
		hasLabel := r.Written.Type != hostfs.Absent && r.Written.Type != ledger.HardLink
		if key.Kind != ledger.Path && key.Kind != ledger.Keys || !hasLabel {
			continue
		}
		if found, err := m.FS.Read(key.Name); err != nil || found.Label != hosttest.Label(key.Name) {
			t.Errorf("expected %s to have the label of the policy, got %q and %v", key.Name, found.Label, err)
		}
		if r.Unlabelled {
			t.Errorf("expected the ledger to know that %s has its label", key.Name)
		}
	}
}

func TestNewEntriesGetTheLabelOfThePolicy(t *testing.T) {
	m := confined(t)
	before := m.Snapshot(t)
	for _, c := range []hostconfig.Config{first(), second(), first()} {
		out := m.apply(t, c)
		m.expectLabels(t)
		if notes := out.Notes(); len(notes) > 0 {
			t.Errorf("expected nothing to be reported, got %q", notes)
		}
		if i := slices.Index(m.Calls, "restorecon"); i < 0 || i > slices.Index(m.Calls, "daemon-reload") {
			t.Errorf("expected one call before systemd reads the files, got %q", m.Calls)
		}
		if m.Calls = nil; len(m.apply(t, c).Steps) > 0 || len(m.Calls) > 0 {
			t.Errorf("expected nothing to do the second time, got %q", m.Calls)
		}
	}
	m.apply(t, none())
	for p, want := range before.Tree {
		if found := m.Snapshot(t).Tree[p]; found != want {
			t.Errorf("%s: expected the original with its label, %+v, got %+v", p, want, found)
		}
	}
}

func TestAReplacedFileKeepsItsLabel(t *testing.T) {
	m := confined(t)
	custom := hostfs.Entry{Type: hostfs.File, Mode: 0o644, Label: "chosen_by_a_user"}
	must(t, m.FS.WriteFile("/etc/motd", []byte("welcome\n"), custom))
	for _, c := range []hostconfig.Config{first(), second(), none()} {
		m.apply(t, c)
		if found, err := m.FS.Read("/etc/motd"); err != nil || found.Label != custom.Label {
			t.Errorf("expected the file to keep its label with %s, got %q and %v", c.Name, found.Label, err)
		}
	}
}

func TestALabelIsNoDrift(t *testing.T) {
	m := confined(t)
	m.apply(t, first())
	must(t, m.FS.Change("/etc/x", hostfs.Entry{Type: hostfs.File, Mode: 0o644, Label: "another"}))
	states, unreadable := m.host.States(context.Background(), m.ledger(t))
	if found := drift.Scan(m.ledger(t), states); len(found) > 0 || len(unreadable) > 0 {
		t.Errorf("expected no drift, got %v and %v", found, unreadable)
	}
	must(t, m.FS.Remove("/etc/x"))
	m.apply(t, first()) // as a repair does
	m.expectLabels(t)
}

func TestAHostWithoutTheProgramReportsIt(t *testing.T) {
	m := confined(t)
	must(t, m.FS.Remove(hosttest.Restorecon))
	c := hostconfig.Config{Name: "rendered-1", Files: []hostconfig.File{file("/etc/x", "x"), file("/etc/motd", "managed\n")}}
	out := m.apply(t, c)
	if notes := out.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "no program restorecon") || !strings.HasSuffix(notes[0], "run restorecon for /etc/x") {
		t.Errorf("expected a note about the new file only, got %q", notes)
	}
	if notes := m.apply(t, c).Notes(); len(notes) > 0 || len(m.Calls) > 0 {
		t.Errorf("expected nothing to report the second time, got %q, %q", notes, m.Calls)
	}
}

func TestAHostWithoutSELinuxCallsNothing(t *testing.T) {
	m := confined(t)
	must(t, m.FS.Remove(selinux.EnforceFile))
	m.apply(t, first())
	if slices.Contains(m.Calls, "restorecon") {
		t.Errorf("expected no call of restorecon, got %q", m.Calls)
	}
}

func TestAFailureToSetLabelsIsRepeated(t *testing.T) {
	m := confined(t)
	m.host.SetLabels = func(context.Context, string, []string) error { return errors.New("it failed") }
	if _, err := m.host.Apply(context.Background(), first()); err == nil || !strings.Contains(err.Error(), "it failed") {
		t.Errorf("expected the failure to be reported, got %v", err)
	}
	if m.host.SetLabels = m.SetLabels; !m.ledger(t).Records[ledger.Key{Kind: ledger.Path, Name: "/etc/x"}].Unlabelled {
		t.Error("expected the ledger to remember that the label has still to be set")
	}
	m.apply(t, second())
	m.expectLabels(t)
}

func TestALinkInPlaceOfANewFileIsNotFollowed(t *testing.T) {
	m := confined(t)
	var labelled []string
	m.host.SetLabels = func(ctx context.Context, program string, paths []string) error {
		labelled = paths
		return m.SetLabels(ctx, program, paths)
	}
	paths := []string{"/srv/new/gone", "/srv/moved/below", "/etc/x"}
	must(t, m.FS.WriteFile("/etc/x", nil, hostfs.Entry{Type: hostfs.File}))
	must(t, m.FS.WriteLink("/srv/moved", hostfs.Entry{Type: hostfs.Link, Target: "/etc"}))
	notes, err := labeller{m.host}.set(context.Background(), paths)
	if err != nil || !slices.Equal(labelled, []string{"/etc/x"}) {
		t.Errorf("expected a label only for what the path itself leads to, got %q and %v", labelled, err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "follows no links") {
		t.Errorf("expected the link to be reported, got %q", notes)
	}
}

// TestACrashAtAnyWritingCallLosesNoLabel also crashes in the middle of restorecon, and loses power.
func TestACrashAtAnyWritingCallLosesNoLabel(t *testing.T) {
	for _, tr := range transitions()[:3] {
		tr.confined = true
		t.Run(tr.name, func(t *testing.T) {
			want, before := tr.end(t)
			for crash, done := 0, false; !done; crash++ {
				m, _ := tr.start(t)
				done = tr.interrupt(t, m, crash)
				if m.Disk.(*disktest.Disk).AtSync() && crash%5 == 0 {
					m.Disk.(*disktest.Disk).PowerLosses(func(after *disktest.Disk) { tr.expect(t, boot(t, after), want, before, crash) })
				}
				tr.expect(t, m, want, before, crash)
			}
		})
	}
}
