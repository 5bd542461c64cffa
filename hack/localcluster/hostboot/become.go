// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"errors"
	"fmt"
	"os"
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
	if err := awaitRelease(); err != nil {
		return err
	}
	st, err := state.Load(dir)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := cgroup.EnterHost(name); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := enterRoot(st, name, bootID, terminal); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	// With the variable container, systemd does not set up what belongs to this machine, such as its clock and modules.
	return unix.Exec(program, []string{program}, []string{"PATH=" + machine.Path, "container=" + machine.Program})
}

// awaitRelease waits until the parent has connected the network. The pipe ends without a byte if the parent fails.
func awaitRelease() error {
	const inherited = 3 // the first of exec.Cmd's ExtraFiles
	unix.CloseOnExec(inherited)
	pipe := os.NewFile(inherited, "pipe")
	defer func() { _ = pipe.Close() }()
	if n, err := pipe.Read(make([]byte, 1)); n != 1 {
		return errors.Join(errors.New("the machine's init failed before the start of systemd"), err)
	}
	return nil
}
