// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build systemd

package node

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/network"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// TestANodeWithSystemdKeepsItsDiskAndNothingElseWhenItReboots needs root. Its first run downloads packages
// from Debian's mirrors. A local cluster may run at the same time.
func TestANodeWithSystemdKeepsItsDiskAndNothingElseWhenItReboots(t *testing.T) {
	h := startHost(t)
	if got := h.run(t, "cat", "/proc/1/comm"); got != "systemd" {
		t.Fatalf("expected systemd to be process 1, got %s", got)
	}
	h.write(t, "etc/systemd/system/probe.service", "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n")
	h.run(t, "systemctl", "daemon-reload")
	h.run(t, "systemctl", "start", "probe") // systemd reads the files of a unit that does not run again each time
	h.write(t, "etc/systemd/system/probe.service.d/10-color.conf", "[Service]\nEnvironment=COLOR=green\n")
	if got := h.property(t, "probe", "Environment"); got != "" {
		t.Errorf("the drop-in has an effect before daemon-reload: %q", got)
	}
	h.run(t, "systemctl", "daemon-reload")
	if got := h.property(t, "probe", "Environment"); got != "COLOR=green" {
		t.Errorf("expected the drop-in to set a variable after daemon-reload, got %q", got)
	}
	h.run(t, "systemctl", "enable", "probe")
	h.run(t, "systemctl", "stop", "probe")
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

// The test only reads, because a write that succeeds by mistake would change the machine that runs the test.
func TestANodeWithSystemdCannotChangeTheSharedKernel(t *testing.T) {
	h := startHost(t)
	// The capabilities SYS_MODULE, SYS_RAWIO and SYS_TIME.
	const shared = 1<<16 | 1<<17 | 1<<25
	for _, process := range []string{"1", "self"} {
		line := h.run(t, "grep", "CapBnd", "/proc/"+process+"/status")
		bounding, err := strconv.ParseUint(strings.Fields(line)[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if bounding&shared != 0 || bounding == 0 {
			t.Errorf("process %s has the capabilities %x", process, bounding)
		}
	}
	for path, want := range map[string]string{"/proc/sys": "ro", "/proc/sys/net": "rw", "/sys": "ro"} {
		options := h.run(t, "findmnt", "--noheadings", "--output", "VFS-OPTIONS", "--mountpoint", path)
		if !strings.HasPrefix(options, want+",") {
			t.Errorf("expected %s to be mounted %s, got %s", path, want, options)
		}
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
