// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/hostrun/account"
	"github.com/opcrew/opcrew/internal/agents/hostrun/program"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// These are the file descriptors of a shim (the process that becomes the command), after the three standard files.
const (
	binaryFile = 3 + iota
	gateFile
	reportFile
)

const (
	umask    = 0o022
	ownFiles = "/proc/self/fd"
)

// spec describes the command that a shim, the process that becomes the command, executes.
type spec struct {
	Argv []string         `json:"argv"`
	Env  []string         `json:"env"`
	Dir  string           `json:"dir"`
	Who  account.Identity `json:"who"`
}

// runShim waits at the gate, a pipe from its parent process, and then replaces itself with the command. If the pipe is
// closed instead, it executes nothing, because the parent has ended or has abandoned the run.
func runShim() error {
	if err := keepStandardFiles(); err != nil {
		return err
	}
	signal.Reset(syscall.SIGTERM) // SIGTERM may end this process while it waits for the permission to run the command
	gate, report := bufio.NewReader(os.NewFile(gateFile, "gate")), json.NewEncoder(os.NewFile(reportFile, "report"))
	var s spec
	if err := readLine(gate, &s); err != nil {
		return err
	}
	path, refusal := s.prepare()
	if err := report.Encode(refusal); err != nil || refusal != nil {
		return err
	}
	switch _, err := gate.ReadByte(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return report.Encode(s.execute(path))
}

// keepStandardFiles marks all files except standard input, output and error to be closed when the command is executed.
func keepStandardFiles() error {
	files, err := os.ReadDir(ownFiles)
	if err != nil {
		return err
	}
	for _, file := range files {
		if fd, err := strconv.Atoi(file.Name()); err == nil && fd >= binaryFile {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// prepare does everything that can fail before the command is executed.
func (s *spec) prepare() (string, *hostjob.Result) {
	if err := become(s.Who); err != nil {
		return "", hostjob.Refuse(hostjob.ReasonRefusedUser, "the process cannot switch to user %q: %v", s.Who.Name, err)
	}
	unix.Umask(umask)
	if err := os.Chdir(s.Dir); err != nil {
		return "", dirRefusal(err, s.Dir, s.Who.Name)
	}
	path, err := program.Find(s.Argv[0], variable(s.Env, "PATH"))
	switch {
	case err != nil && s.Argv[0] == program.Shell:
		return "", hostjob.Refuse(hostjob.ReasonNoShell, "the host has no %s that user %q can execute: %v", program.Shell, s.Who.Name, withoutPath(err))
	case err != nil:
		return "", hostjob.Refuse(hostjob.ReasonNoCommand, "the host has no %q that user %q can execute: %v", s.Argv[0], s.Who.Name, withoutPath(err))
	}
	return path, nil
}

// become switches to the user and gives up root permanently. It first makes the user the owner of the output. Otherwise
// a program that opens /dev/stderr would be refused.
func become(who account.Identity) error {
	if os.Geteuid() != 0 && os.Geteuid() == who.UID {
		return nil // nothing to switch: this process already runs as the user
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"make the user the owner of the output", func() error { return unix.Fchown(1, who.UID, who.GID) }},
		{"set the groups", func() error { return syscall.Setgroups(who.Groups) }},
		{"set the group", func() error { return syscall.Setgid(who.GID) }},
		{"set the user", func() error { return syscall.Setuid(who.UID) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

func dirRefusal(err error, dir, user string) *hostjob.Result {
	if errors.Is(err, fs.ErrPermission) {
		return hostjob.Refuse(hostjob.ReasonDirectory, "user %q cannot enter %q: %v", user, dir, withoutPath(err))
	}
	return hostjob.Refuse(hostjob.ReasonNoDirectory, "the host has no directory %q: %v", dir, withoutPath(err))
}

// execute replaces this process with the command. It returns only if that fails.
func (s *spec) execute(path string) *hostjob.Result {
	runtime.LockOSThread() // each thread has a signal mask of its own, which the command inherits
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return hostjob.Refuse(hostjob.ReasonNotExecuted, "the signals cannot be unblocked: %v", err)
	}
	resetInternalSignals()
	return hostjob.Refuse(hostjob.ReasonNotExecuted, "%s cannot be executed: %v", path, syscall.Exec(path, s.Argv, s.Env))
}

// resetInternalSignals resets the two signals that C libraries reserve and that Go does not handle. A program such as
// make may have started the agent with these signals ignored. The command must not inherit that.
func resetInternalSignals() {
	var byDefault [4]uint64 // a zero struct sigaction of the kernel means the default action
	for _, number := range []uintptr{32, 33} {
		//nolint:gosec // Go has no other way to set these signals
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	}
}

// withoutPath removes the path from an error, because the message already contains it.
func withoutPath(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// readLine reads one JSON value up to the line break, and nothing beyond.
func readLine(r *bufio.Reader, into any) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read from the parent process: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	return json.Unmarshal(line, into)
}
