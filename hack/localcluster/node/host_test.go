// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build systemd

package node

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/hostos"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// patience is longer than every step of these tests takes on a busy machine.
const patience = 5 * time.Minute

// host is a node with systemd without a cluster: its network ends at a bridge.
type host struct {
	st   *state.State
	name string
}

// startHost starts a node with systemd. At the end of the test it removes the node, and checks that nothing is left.
func startHost(t *testing.T) *host {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("the tests with the tag systemd need root")
	}
	// The folder must not be below /tmp, which systemd empties at each boot.
	dir, err := os.MkdirTemp("/var/lib", "opcrew-systemd-test-")
	if err != nil {
		t.Fatal(err)
	}
	h := &host{name: "systemdtest"}
	h.st = &state.State{
		Dir: dir, Network: network.Plan(),
		ControlPlane: state.Machine{Name: state.ControlPlaneName, Address: netip.MustParseAddr("10.214.0.1"), NetNS: filepath.Join(dir, "netns/cp")},
		Nodes: []state.Node{{
			Machine: state.Machine{Name: h.name, Address: netip.MustParseAddr("10.214.0.11"), NetNS: filepath.Join(dir, "netns", h.name)},
			PodCIDR: netip.MustParsePrefix("10.215.1.0/24"), ContainerdSocket: filepath.Join(dir, "containerd.sock"), Systemd: true,
		}},
	}
	t.Cleanup(func() { h.remove(t) })
	h.install(t)
	if err := Start(t.Context(), h.st, h.name); err != nil {
		console, _ := os.ReadFile(h.st.LogFile(h.name, "console"))
		t.Fatalf("start: %v\n%s", err, console)
	}
	return h
}

func (h *host) install(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", h.st.BinDir()+"/", "github.com/opcrew/opcrew/hack/localcluster")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	system, err := hostos.Make(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := hostos.Install(ctx, system, h.st.HostDir(h.name)); err != nil {
		t.Fatal(err)
	}
	if err := pki.Create(h.st, network.KubernetesService(h.st.Network)); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(h.st, *h.node(t)); err != nil {
		t.Fatal(err)
	}
	if err := h.st.Save(); err != nil {
		t.Fatal(err)
	}
	if err := network.CreateBridge(ctx, h.st); err != nil {
		t.Fatal(err)
	}
}

// node reads the node's record again, because Start and Crash replace parts of it.
func (h *host) node(t *testing.T) *state.Node {
	t.Helper()
	n, err := h.st.Node(h.name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (h *host) try(t *testing.T, argv ...string) (string, error) {
	t.Helper()
	return machine.Output(t.Context(), h.st, h.name, argv...)
}

func (h *host) run(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := h.try(t, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bootID returns the boot ID that programs on the node see. It must be the one that the tool reports.
func (h *host) bootID(t *testing.T) string {
	t.Helper()
	inside := h.run(t, "cat", "/proc/sys/kernel/random/boot_id")
	if outside, err := os.ReadFile(h.st.BootIDFile(h.name)); err != nil || string(outside) != inside {
		t.Fatalf("the node has the boot ID %s, the tool reports %s (%v)", inside, outside, err)
	}
	return inside
}

func (h *host) reboot(t *testing.T, force bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := Reboot(ctx, h.st, h.name, force); err != nil {
		t.Fatal(err)
	}
}

func (h *host) await(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !met(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
