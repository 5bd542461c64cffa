// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// pipes connect the machine's init with the process that becomes systemd. That process waits until the init writes to
// the first pipe. The second pipe ends when the process executes systemd, and contains an error if it cannot.
type pipes struct {
	goRead, goWrite, failRead, failWrite *os.File
}

// The files that the process inherits. The first three are its standard files.
const (
	goFile   = 3
	failFile = 4
)

func newPipes() (*pipes, error) {
	p := &pipes{}
	var err error
	if p.goRead, p.goWrite, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.failRead, p.failWrite, err = os.Pipe(); err != nil {
		return nil, errors.Join(err, p.goRead.Close(), p.goWrite.Close())
	}
	return p, nil
}

func (p *pipes) inherited() []*os.File { return []*os.File{p.goRead, p.failWrite} }

// release lets the process become systemd, and waits until it has.
func (p *pipes) release() error {
	_ = p.failWrite.Close() // the process has a copy; the pipe ends only when no copy is left
	if _, err := p.goWrite.Write([]byte{1}); err != nil {
		return err
	}
	why, err := io.ReadAll(p.failRead)
	if err == nil && len(why) > 0 {
		err = errors.New(string(why))
	}
	return err
}

func (p *pipes) close() {
	for _, f := range []*os.File{p.goRead, p.goWrite, p.failRead, p.failWrite} {
		_ = f.Close() // release has closed one of them
	}
}

// awaitRelease waits in the process until the init calls release. It returns a function that reports an error to the
// init.
func awaitRelease() (fail func(error) error, err error) {
	unix.CloseOnExec(goFile)
	unix.CloseOnExec(failFile)
	wait, report := os.NewFile(goFile, "go"), os.NewFile(failFile, "fail")
	defer func() { _ = wait.Close() }()
	if n, err := wait.Read(make([]byte, 1)); n != 1 {
		return nil, errors.Join(errors.New("the machine's init failed before the start of systemd"), err)
	}
	return func(why error) error {
		_, _ = fmt.Fprint(report, why)
		return why
	}, nil
}
