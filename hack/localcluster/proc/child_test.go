// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestOnlyAChildWithAPidNamespaceIsAnInit(t *testing.T) {
	start := func(flags uintptr) *exec.Cmd {
		cmd := exec.Command("sleep", "60")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		if err := cmd.Start(); err != nil {
			t.Skip("this user cannot create a pid namespace:", err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd
	}
	start(0)
	if pid, err := NestedInit(os.Getpid()); !errors.Is(err, ErrNoInit) {
		t.Errorf("an ordinary child counts as an init: %d, %v", pid, err)
	}
	nested := start(syscall.CLONE_NEWPID | syscall.CLONE_NEWUSER)
	if pid, err := NestedInit(os.Getpid()); err != nil || pid != nested.Process.Pid {
		t.Errorf("expected %d, got %d, %v", nested.Process.Pid, pid, err)
	}
}
