// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proc identifies processes over time. A pid can be reused by another process, but the combination of a pid,
// its start time and the machine's boot ID cannot. Package machine starts processes.
package proc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Identity names one process of one boot of this machine. No other process ever has the same Identity.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // in clock ticks since boot: field 22 of /proc/PID/stat
	Boot  string `json:"boot"`
}

// Of returns the identity of the running process with the given pid.
func Of(pid int) (Identity, error) {
	stat, err := readStat(pid)
	if err != nil {
		return Identity{}, err
	}
	boot, err := BootID()
	if err != nil {
		return Identity{}, err
	}
	return Identity{PID: pid, Start: stat.start, Boot: boot}, nil
}

// Alive reports whether the process with this identity still runs. An exiting process does not count as alive. This
// matters for an init, which is exiting until every other process of its namespace has ended.
func (id Identity) Alive() bool {
	stat, ok := id.look()
	return ok && !stat.dead() && !stat.exiting()
}

// look reads the state of the process from /proc. It returns false if the process does not exist.
func (id Identity) look() (stat, bool) {
	if id.PID <= 0 {
		return stat{}, false
	}
	now, err := readStat(id.PID)
	if err != nil || now.start != id.Start {
		return stat{}, false
	}
	boot, err := BootID()
	return now, err == nil && boot == id.Boot
}

// Signal sends a signal to the process. It returns no error if the process is gone.
func (id Identity) Signal(sig syscall.Signal) error {
	if !id.Alive() {
		return nil
	}
	if err := syscall.Kill(id.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v to process %d: %w", sig, id.PID, err)
	}
	return nil
}

// Kill kills the process and waits until it is gone. If the process is an init, the kernel first ends every other
// process of its pid namespace.
func (id Identity) Kill(timeout time.Duration) error {
	if err := id.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	deadline := time.Now().Add(timeout)
	for {
		if stat, ok := id.look(); !ok || stat.dead() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d did not end within %v after SIGKILL", id.PID, timeout)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// AwaitReaped waits until the ended process is no longer a zombie, for at most timeout. The process's parent must reap
// it. Once `localcluster up` has ended, the parent is this host's process 1.
func (id Identity) AwaitReaped(timeout time.Duration) {
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		if _, ok := id.look(); !ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// BootID returns the random ID that the kernel chose at this boot.
func BootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}
