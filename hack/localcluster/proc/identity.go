// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proc identifies processes over time. A pid may be reused by another process, but a pid together with its
// start time and the machine's boot ID may not. Package machine starts processes.
package proc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Identity names one process of one boot of this machine.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot, field 22 of /proc/PID/stat
	Boot  string `json:"boot"`
}

// Of returns the identity of a process that exists now.
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

// Alive reports whether this very process runs. An exiting process does not count, since an init is exiting for as long
// as its namespace has other processes.
func (id Identity) Alive() bool {
	stat, ok := id.look()
	return ok && !stat.dead() && !stat.exiting()
}

// look reads the state of this very process. It returns false if the process does not exist.
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

// Signal sends a signal to this very process. It is no error if the process is gone.
func (id Identity) Signal(sig syscall.Signal) error {
	if !id.Alive() {
		return nil
	}
	if err := syscall.Kill(id.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v to process %d: %w", sig, id.PID, err)
	}
	return nil
}

// Kill kills the process and waits until it is gone. For an init this includes every process of its namespace, which
// the kernel ends first.
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
			return fmt.Errorf("process %d did not end within %v of SIGKILL", id.PID, timeout)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// AwaitReaped waits a while until the ended process is no longer a zombie. Its parent must reap it; after `up` has
// ended, that is this host's process 1.
func (id Identity) AwaitReaped(timeout time.Duration) {
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		if _, ok := id.look(); !ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// BootID returns the kernel's random ID of the current boot.
func BootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}
