// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// maxConsole is the size in bytes at which the log of the console is emptied.
const maxConsole = 16 << 20

// console is the terminal to which systemd writes its messages. A terminal is necessary: without one, systemd writes to
// the kernel log, which is the log of this machine.
type console struct {
	slave string // path of the end that becomes /dev/console
	// held keeps the slave open between two boots, because reads of the other end fail when the last slave is closed.
	held *os.File
}

// openConsole creates a terminal, and copies what programs write to it into a log file.
func openConsole(dir, name string) (*console, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("create a console: %w", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, fmt.Errorf("unlock the console: %w", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, fmt.Errorf("find the console: %w", err)
	}
	c := &console{slave: filepath.Join("/dev/pts", fmt.Sprint(number))}
	if c.held, err = os.OpenFile(c.slave, os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, fmt.Errorf("open the console: %w", err)
	}
	st := state.State{Dir: dir}
	path := st.LogFile(name, "console")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	go record(log, master)
	return c, nil
}

// record reads the console until the machine ends. systemd would block if nothing read it.
func record(log *os.File, master io.Reader) {
	buffer := make([]byte, 4096)
	for {
		n, err := master.Read(buffer)
		if n > 0 {
			_, _ = log.Write(buffer[:n])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "read the console:", err)
			return
		}
		if info, err := log.Stat(); err == nil && info.Size() > maxConsole {
			_ = log.Truncate(0)
		}
	}
}
