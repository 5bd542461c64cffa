// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/apply"
	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs/disktest"
	"github.com/opcrew/opcrew/internal/agents/machine/hosttest"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a simulated host with its agent, and the Node of an API server.
type world struct {
	*hosttest.Machine
	t     testing.TB
	disk  *disktest.Disk
	agent *Agent
	// node has the annotations on the API server, seen those that the agent has seen.
	node, seen map[string]string
	secrets    map[string][]byte
	// apiDown and peersDown are outages for all nodes. firewall reports whether the configuration cuts the node off.
	apiDown, peersDown bool
	firewall           func(w *world) bool
	// broken are units that cannot be restarted. lostArguments is set if the boot loader ignores its files.
	broken        map[string]bool
	lostArguments bool
	// starts is how long after a boot the host has started everything.
	starts    time.Duration
	boot      int
	uptime    time.Duration
	command   string
	rebooting bool
	// drains is set if the operator drains the node at once.
	drains bool
	// crash is the number of the writing call at which the agent crashes, from 0; negative if it does not crash.
	crash int
	// powerLoss is called with each disk that a power loss at the crash permits.
	powerLoss     func(after *disktest.Disk)
	writes, reads int
	watched       string // the configuration whose files are watched
	log           strings.Builder
}

// newWorld starts a host without an order.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, disk: disktest.New(), node: map[string]string{}, secrets: map[string][]byte{}, broken: map[string]bool{}, crash: -1, drains: true, boot: 1, uptime: time.Hour}
	w.firewall = func(w *world) bool { return w.content("/etc/firewall") == "drop" }
	w.Machine = hosttest.Boot(t, w.disk)
	w.Broken, w.Active["crio.service"] = w.broken, true
	w.Write(t, "/usr/lib/systemd/system/crio.service", "[Service]\n[Install]\nWantedBy=multi-user.target\n", 0o644, 0)
	w.Write(t, "/etc/motd", "welcome\n", 0o644, 0)
	w.Write(t, "/etc/passwd", "root:x:0:0::/root:/bin/sh\n", 0o644, 0)
	w.Write(t, "/etc/group", "root:x:0:\n", 0o644, 0)
	w.Write(t, "/etc/default/grub", "", 0o644, 0)
	w.Write(t, "/usr/sbin/update-grub", "", 0o755, 0)
	w.Write(t, "/boot/grub/grub.cfg", "linux root=x\n", 0o600, 0)
	w.Mkdir(t, hostconfig.UnitDirectory+"/multi-user.target.wants")
	w.Mkdir(t, "/var/lib")
	w.disk.Sync()
	w.start()
	return w
}

// start starts the agent's process.
func (w *world) start() {
	host := &apply.Host{
		FS: w.FS, Store: ledger.NewStore(w.FS, hostconfig.StateDirectory), Units: w.Machine, Kernel: w.Machine, UpdateBoot: w.UpdateBoot, SetLabels: w.SetLabels,
		LockUsers: func(context.Context) (func(), error) { return func() {}, nil },
	}
	w.seen = nil
	w.agent = &Agent{
		Host: host, Trial: trial.NewStore(w.FS, hostconfig.StateDirectory), Journal: journal.NewStore(w.FS, hostconfig.StateDirectory),
		Cluster: api{w}, Contacts: w.contacts, System: w, Files: w, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	}
}

func (w *world) content(p string) string {
	content, _, err := w.FS.ReadFile(p, 1<<20)
	if err != nil {
		return ""
	}
	return string(content)
}

func (w *world) Set(l ledger.Ledger) error {
	w.watched = l.Config
	return nil
}

func (w *world) Now() (trial.Now, error) {
	return trial.Now{Boot: fmt.Sprint("boot-", w.boot), Uptime: w.uptime}, nil
}

func (w *world) Started(context.Context) bool { return w.uptime >= w.starts }

func (w *world) CommandLine() (string, error) { return w.command, nil }

func (w *world) Reboot(context.Context) error {
	err := w.Call("reboot")
	w.rebooting = err == nil
	return err
}

// restartHost boots the host with what is on a disk.
func (w *world) restartHost(disk *disktest.Disk) {
	calls := w.Calls
	w.disk, w.Machine = disk, hosttest.Boot(w.t, disk)
	w.Broken = w.broken
	w.Calls, w.rebooting, w.boot, w.uptime = calls, false, w.boot+1, 20*time.Second
	w.command = "root=x"
	for line := range strings.Lines(w.content("/boot/grub/grub.cfg")) {
		if _, added, is := strings.Cut(line, `GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX `); is && !w.lostArguments {
			w.command += " " + strings.Trim(strings.TrimSpace(added), `"`)
		}
	}
	w.start()
}

func (w *world) online() bool { return !w.apiDown && !w.firewall(w) }

func (w *world) contacts(_ context.Context, peers []machineorder.Peer) contact.Contacts {
	out := contact.Contacts{API: w.online()}
	for _, p := range peers {
		if !w.peersDown && !w.firewall(w) {
			out.Peers = append(out.Peers, p.Name)
		}
	}
	return out
}

func (w *world) Annotations() map[string]string {
	if w.online() {
		w.seen = maps.Clone(w.node)
	}
	return w.seen
}

var errOffline = errors.New("no route to host")

// api is the daemon.Cluster of the world.
type api struct{ *world }

func (a api) Write(_ context.Context, annotations map[string]string) error {
	if !a.online() {
		return errOffline
	}
	if err := a.Call("patch"); err != nil {
		return err
	}
	for name := range annotations {
		if a.node[name] != a.seen[name] || a.node[machineorder.OrderAnnotation] != a.seen[machineorder.OrderAnnotation] {
			return errors.New("the test operation failed")
		}
	}
	a.writes++
	for name, value := range annotations {
		a.node[name] = value
		if value == "" {
			delete(a.node, name)
		}
	}
	return nil
}

func (a api) Config(_ context.Context, name string) ([]byte, error) {
	if !a.online() {
		return nil, errOffline
	}
	a.reads++
	if content, found := a.secrets[name]; found {
		return content, nil
	}
	return nil, &cluster.Refusal{Text: "there is no Secret " + name}
}

// order orders a configuration, as the operator does.
func (w *world) order(c hostconfig.Config, actions ...machineorder.Action) machineorder.Order {
	w.t.Helper()
	o := machineorder.Order{Config: c.Name, Actions: actions, Peers: []machineorder.Peer{{Name: "a", Address: "10.0.0.2:10250"}, {Name: "b", Address: "10.0.0.3:10250"}}}
	if c.Name != machineorder.None {
		encoded, err := hostconfig.Encode(c)
		must(w.t, err)
		w.secrets[c.Name], o.Digest = encoded, hostconfig.Digest(encoded)
	}
	w.give(o)
	return o
}

func (w *world) give(o machineorder.Order) {
	w.t.Helper()
	text, err := machineorder.EncodeOrder(o)
	must(w.t, err)
	w.node[machineorder.OrderAnnotation], w.node[machineorder.DesiredConfig] = text, o.Config
}

// operate does what the operator does when the agent requests something.
func (w *world) operate() {
	if wants := w.node[machineorder.DesiredDrain]; w.drains && wants != "" {
		w.node[machineorder.LastAppliedDrain] = wants
	}
}

// run lets time pass. It returns early when the agent waits for something to happen.
func (w *world) run(limit time.Duration) {
	w.t.Helper()
	for turns := 0; limit > 0; turns++ {
		if turns > 5000 {
			w.t.Fatalf("expected the agent to rest at some time: %s", w.log.String())
		}
		pause := w.agent.Turn(context.Background())
		switch {
		case w.crash >= 0 && w.disk.Calls() > w.crash:
			if w.powerLoss != nil && w.disk.AtSync() {
				w.disk.PowerLosses(w.powerLoss)
			}
			w.kill()
			return
		case w.rebooting:
			w.disk.Sync()
			w.restartHost(w.disk)
			continue
		}
		before := maps.Clone(w.node)
		w.operate()
		if !maps.Equal(before, w.node) {
			continue
		}
		if pause > limit {
			pause = limit
		}
		limit, w.uptime = limit-pause, w.uptime+pause
	}
}

// kill ends the agent's process, and starts another one.
func (w *world) kill() {
	w.crash = -1
	w.disk.Restart()
	w.start()
}

// copy returns a world with another API server and another log.
func (w *world) copy() *world {
	return &world{
		t: w.t, Machine: w.Machine, node: maps.Clone(w.node), secrets: w.secrets, broken: w.broken, firewall: w.firewall,
		boot: w.boot, uptime: w.uptime, drains: w.drains, crash: -1,
	}
}

func (w *world) report() machineorder.Report {
	w.t.Helper()
	text := w.node[machineorder.ReportAnnotation]
	if text == "" {
		return machineorder.Report{}
	}
	r, err := machineorder.ParseReport(text)
	must(w.t, err)
	return r
}

// expect compares the state and the configuration in the annotations, and the phase of the report.
func (w *world) expect(state, current string, phase machineorder.Phase) {
	w.t.Helper()
	if w.node[machineorder.State] != state || w.node[machineorder.CurrentConfig] != current || w.report().Phase != phase {
		w.t.Errorf("expected state %q, configuration %q and phase %q, got %v\n%s", state, current, phase, w.node, w.log.String())
	}
}

// did returns how often a program was called.
func (w *world) did(call string) int {
	return len(slices.DeleteFunc(slices.Clone(w.Calls), func(c string) bool { return c != call }))
}
