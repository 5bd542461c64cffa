// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build systemd

package node

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// TestANodeWithSystemdKeepsItsDiskAndNothingElseWhenItReboots needs root, and Debian's mirrors the first time. It runs
// next to a cluster.
func TestANodeWithSystemdKeepsItsDiskAndNothingElseWhenItReboots(t *testing.T) {
	h := startHost(t)
	if got := h.run(t, "cat", "/proc/1/comm"); got != "systemd" {
		t.Fatalf("expected systemd to be process 1, got %s", got)
	}
	h.write(t, "etc/systemd/system/probe.service", "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n")
	h.run(t, "systemctl", "daemon-reload")
	h.write(t, "etc/systemd/system/probe.service.d/10-color.conf", "[Service]\nEnvironment=COLOR=green\n")
	if got := h.property(t, "probe", "Environment"); got != "" {
		t.Errorf("the drop-in has an effect before daemon-reload: %q", got)
	}
	h.run(t, "systemctl", "daemon-reload")
	if got := h.property(t, "probe", "Environment"); got != "COLOR=green" {
		t.Errorf("expected the drop-in to set a variable after daemon-reload, got %q", got)
	}
	h.run(t, "systemctl", "enable", "probe")
	if got := h.property(t, "probe", "ActiveState"); got != "inactive" {
		t.Fatalf("enable started the unit: %s", got)
	}
	fresh := h.run(t, "sysctl", "-n", "net.core.somaxconn")
	h.run(t, "sysctl", "-w", "net.core.somaxconn=1234")
	h.run(t, "nft", "add table inet leftover")
	h.write(t, "etc/default/grub.d/95-test.cfg", "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX hugepages=3\"\n")
	h.run(t, "update-grub")
	if got := h.run(t, "cat", "/proc/cmdline"); strings.Contains(got, "hugepages=3") {
		t.Errorf("the kernel arguments changed before the reboot: %s", got)
	}

	boot := h.bootID(t)
	h.reboot(t, false)
	if got := h.bootID(t); got == boot || len(got) != len(boot) {
		t.Errorf("expected another boot ID than %s, got %s", boot, got)
	}
	if got := h.property(t, "probe", "ActiveState"); got != "active" {
		t.Errorf("the enabled unit does not run after the reboot: %s", got)
	}
	if got := h.property(t, "probe", "Environment"); got != "COLOR=green" {
		t.Errorf("the drop-in is gone after the reboot: %q", got)
	}
	if got := h.run(t, "cat", "/proc/cmdline"); !strings.Contains(got, "hugepages=3") {
		t.Errorf("expected the new kernel arguments after the reboot, got %s", got)
	}
	if got := h.run(t, "sysctl", "-n", "net.core.somaxconn"); got != fresh {
		t.Errorf("the sysctl is %s after the reboot, not %s", got, fresh)
	}
	if got := h.run(t, "nft", "list", "tables"); strings.Contains(got, "leftover") {
		t.Errorf("the firewall survived the reboot: %s", got)
	}
	h.reachable(t)
}

func TestANodeWithSystemdRebootsFromInsideAndAtOnce(t *testing.T) {
	h := startHost(t)
	init := h.node(t).Init
	boot := h.bootID(t)
	h.write(t, "root/kept", "content")
	h.reboot(t, true)
	if h.bootID(t) == boot {
		t.Error("reboot(2) gave no new boot ID")
	}
	if got := h.run(t, "cat", "/root/kept"); got != "content" {
		t.Errorf("the disk was not kept: %q", got)
	}
	if h.node(t).Init != init {
		t.Error("the machine's init is another process")
	}
	h.run(t, "systemctl", "poweroff")
	h.await(t, "the machine to be off", func() bool { return !h.node(t).Init.Alive() })
	if err := Start(t.Context(), h.st, h.name); err != nil {
		t.Fatalf("start after a power off: %v", err)
	}
	h.reachable(t)
}

func TestANodeWithSystemdCannotChangeTheSharedKernel(t *testing.T) {
	h := startHost(t)
	before, err := os.ReadFile("/proc/sys/vm/swappiness")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"echo 17 > /proc/sys/vm/swappiness", "echo x > /proc/sysrq-trigger", "echo 1 > /sys/kernel/mm/ksm/run", "date --set 2001-01-01",
	} {
		if out, err := h.try(t, "sh", "-c", command); err == nil {
			t.Errorf("%s succeeded: %s", command, out)
		}
	}
	if after, _ := os.ReadFile("/proc/sys/vm/swappiness"); string(after) != string(before) {
		t.Errorf("this machine's sysctl changed from %s to %s", before, after)
	}
	first := h.run(t, "hostname")
	if own, _ := os.Hostname(); first != h.name || own == first {
		t.Errorf("the node is called %s, this machine %s", first, own)
	}
}

// reachable checks that another machine can open a connection to the node's SSH server.
func (h *host) reachable(t *testing.T) {
	t.Helper()
	address := net.JoinHostPort(h.node(t).Address.String(), "22")
	h.await(t, "a connection to "+address, func() bool {
		return network.Inside(h.st.ControlPlane.NetNS, func() error {
			conn, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				_ = conn.Close()
			}
			return err
		}) == nil
	})
}

func (h *host) write(t *testing.T, path, content string) {
	t.Helper()
	if err := state.WriteFile(filepath.Join(h.st.HostDir(h.name), path), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (h *host) property(t *testing.T, unit, name string) string {
	t.Helper()
	return h.run(t, "systemctl", "show", "--value", "--property", name, unit)
}
