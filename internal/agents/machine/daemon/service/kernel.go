// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package service

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
)

const (
	bootIDFile      = "/proc/sys/kernel/random/boot_id"
	commandLineFile = "/proc/cmdline"
	updateGrub      = "/usr/sbin/update-grub"
)

// kernel is the kernel of this machine.
type kernel struct{}

// Now returns the clock that starts at boot, and that no one can set.
func (kernel) Now() (trial.Now, error) {
	id, err := os.ReadFile(bootIDFile)
	if err != nil {
		return trial.Now{}, err
	}
	var since unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &since); err != nil {
		return trial.Now{}, err
	}
	return trial.Now{Boot: strings.TrimSpace(string(id)), Uptime: time.Duration(since.Nano())}, nil
}

// CommandLine returns the kernel command line of this boot.
func (kernel) CommandLine() (string, error) {
	line, err := os.ReadFile(commandLineFile)
	return string(line), err
}

// Started asks systemd.
func (kernel) Started(ctx context.Context) bool { return units.Systemctl{}.Started(ctx) }

// Reboot begins a reboot.
func (kernel) Reboot(ctx context.Context) error { return units.Systemctl{}.Reboot(ctx) }

// bootTime is how long update-grub may take. It looks for other systems on all disks.
const bootTime = 10 * time.Minute

// updateBoot runs update-grub. The end of the agent does not end it, because it writes the configuration in place.
func updateBoot(ctx context.Context) error { return runBoot(ctx, updateGrub, bootTime) }

func runBoot(ctx context.Context, program string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		return fmt.Errorf("update-grub: %w: %s", err, text[max(0, len(text)-1000):])
	}
	return nil
}
