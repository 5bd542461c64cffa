// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/hosttest"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// story is an order whose execution the tests interrupt.
type story struct {
	name    string
	config  hostconfig.Config
	actions []machineorder.Action
	// cut is set if the change cuts the node off after a reboot.
	cut bool
}

func stories() []story {
	full := two
	full.Units = []hostconfig.Unit{unit("app.service")}
	full.KernelArguments = []string{"a=1"}
	return []story{
		{"without a drain", two, []machineorder.Action{restart}, false},
		{"with a drain and a reboot", full, []machineorder.Action{reboot}, false},
		{"cut off", wall, []machineorder.Action{drainNode, restart}, false},
		{"cut off by a reboot", wall, []machineorder.Action{reboot}, true},
		{"restored", empty, nil, false},
	}
}

func unit(name string) hostconfig.Unit {
	contents, enabled := "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n", true
	return hostconfig.Unit{Name: name, Contents: &contents, Enabled: &enabled}
}

// begin returns a world that has the order, with everything on disk.
func (s story) begin(t testing.TB) *world {
	t.Helper()
	w := configured(t)
	if s.cut {
		w.firewall = func(w *world) bool { return w.boot > 1 && w.content("/etc/firewall") == "drop" }
	}
	w.order(s.config, s.actions...)
	w.disk.Sync()
	w.disk.Restart()
	return w
}

// end is what users see after an order.
type end struct {
	Host hosttest.Snapshot
	Node map[string]string
}

// complete lets time pass, and returns the end. The boot in which an order is completed depends on the crash.
func (w *world) complete(t testing.TB) end {
	t.Helper()
	w.run(2 * time.Hour)
	r := w.report()
	r.BootID = ""
	node := maps.Clone(w.node)
	text, err := machineorder.EncodeReport(r)
	must(t, err)
	node[machineorder.ReportAnnotation] = text
	return end{w.Snapshot(t), node}
}

func TestAKillAtAnyStepChangesNothing(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			want := s.begin(t).complete(t)
			for crash := 0; ; crash++ {
				w := s.begin(t)
				w.crash = crash
				w.disk.Crash(crash)
				w.run(2 * time.Hour)
				if w.crash >= 0 {
					if crash < 10 {
						t.Fatalf("expected more than %d writing calls", crash)
					}
					return
				}
				if diff := cmp.Diff(want, w.complete(t)); diff != "" {
					t.Fatalf("killed at call %d: expected the same end as without: %s\n%s", crash, diff, w.log.String())
				}
				if begun := strings.Count(w.log.String(), "The change begins"); begun > 2 {
					t.Fatalf("killed at call %d: expected the order to be tried at most once, got %d times", crash, begun-1)
				}
			}
		})
	}
}

// TestAPowerLossAtAnyStepChangesNothing loses what was not on disk. Afterwards the host is in another boot.
func TestAPowerLossAtAnyStepChangesNothing(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			want := s.begin(t).complete(t)
			for crash := 0; ; crash++ {
				w := s.begin(t)
				w.crash, w.powerLoss = crash, func(after *disktest.Disk) {
					other := w.copy()
					other.restartHost(after)
					if diff := cmp.Diff(want, other.complete(t)); diff != "" {
						t.Fatalf("power loss at call %d: expected the same end as without: %s\n%s", crash, diff, other.log.String())
					}
				}
				w.disk.Crash(crash)
				w.run(2 * time.Hour)
				if w.crash >= 0 {
					return
				}
			}
		})
	}
}
