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

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// The files that a shim is started with, behind the three of every process.
const (
	binaryFile = 3 + iota
	gateFile
	reportFile
)

const (
	umask    = 0o022
	ownFiles = "/proc/self/fd"
)

// spec is what a shim shall become.
type spec struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	Who  identity `json:"who"`
}

// runShim becomes the command when the gate opens. If the gate ends instead, nothing is
// executed: then the host stage has gone, or thought better of it.
func runShim() error {
	if err := keepStandardFiles(); err != nil {
		return err
	}
	signal.Reset(syscall.SIGTERM) // the wait at the gate can be ended
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

// keepStandardFiles leaves the command its standard input and output, and nothing that is
// ours or came to us by chance.
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

// prepare does all that can go wrong before the command is executed.
func (s *spec) prepare() (string, *hostjob.Result) {
	if err := s.Who.become(); err != nil {
		return "", notStarted(hostjob.ReasonRefusedUser, "the process cannot become user %q: %v", s.Who.Name, err)
	}
	unix.Umask(umask)
	if err := os.Chdir(s.Dir); err != nil {
		return "", wrongDir(err, s.Dir, s.Who.Name)
	}
	path, err := lookPath(s.Argv[0], variable(s.Env, "PATH"))
	switch {
	case err != nil && s.Argv[0] == shell:
		return "", notStarted(hostjob.ReasonNoShell, "the host has no %s that user %q can execute: %v", shell, s.Who.Name, bare(err))
	case err != nil:
		return "", notStarted(hostjob.ReasonNoCommand, "the host has no %q that user %q can execute: %v", s.Argv[0], s.Who.Name, bare(err))
	}
	return path, nil
}

// become gives up root, for good. Output has to belong to the user: a program that opens
// /dev/stderr again would be refused else.
func (who identity) become() error {
	if os.Geteuid() != 0 && os.Geteuid() == who.UID {
		return nil // there is nothing to give up
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"hand over the output", func() error { return unix.Fchown(1, who.UID, who.GID) }},
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

func wrongDir(err error, dir, user string) *hostjob.Result {
	if errors.Is(err, fs.ErrPermission) {
		return notStarted(hostjob.ReasonDirectory, "user %q cannot enter %q: %v", user, dir, bare(err))
	}
	return notStarted(hostjob.ReasonNoDirectory, "the host has no directory %q: %v", dir, bare(err))
}

// execute returns only if it fails.
func (s *spec) execute(path string) *hostjob.Result {
	runtime.LockOSThread() // the mask of signals is the thread's, and the exec keeps it
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return notStarted(hostjob.ReasonNotExecuted, "the signals cannot be unblocked: %v", err)
	}
	resetInternalSignals()
	return notStarted(hostjob.ReasonNotExecuted, "%s cannot be executed: %v", path, syscall.Exec(path, s.Argv, s.Env))
}

// resetInternalSignals has the command not ignore the two signals that a C library keeps for
// itself, and that Go therefore leaves as it finds them: make is one who starts others so.
func resetInternalSignals() {
	var byDefault [4]uint64 // the kernel's struct sigaction, of which all is zero
	for _, number := range []uintptr{32, 33} {
		//nolint:gosec // there is no other way to them
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	}
}

// bare is an error without the path that the message names anyway.
func bare(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// readLine reads one JSON value. The line break ends it, so that nothing behind is read.
func readLine(r *bufio.Reader, into any) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read from the process that started this one: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	return json.Unmarshal(line, into)
}
