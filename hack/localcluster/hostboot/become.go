// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/cgroup"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// program is the path of systemd on the node.
const program = "/sbin/init"

// become makes this process the systemd of a node. It locks the thread, because namespaces belong to a thread, and
// execve keeps only the calling thread.
func become(dir, name, bootID, terminal string) error {
	fail, err := awaitRelease()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := prepare(dir, name, bootID, terminal); err != nil {
		return fail(err)
	}
	// With the variable container, systemd does not set up what belongs to this machine, such as its clock and modules.
	err = unix.Exec(program, []string{program}, []string{"PATH=" + machine.Path, "container=" + machine.Program})
	return fail(fmt.Errorf("execute %s: %w", program, err))
}

func prepare(dir, name, bootID, terminal string) error {
	st, err := state.Load(dir)
	if err != nil {
		return err
	}
	if err := cgroup.EnterHost(name); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := enterRoot(st, name, bootID, terminal); err != nil {
		return err
	}
	return dropCapabilities()
}
