// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/hostrun/tree"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	// readyTime is how long a shim may take to get ready, because access to a directory on a dead file server hangs for
	// ever.
	readyTime = 30 * time.Second
	// binary is the path of this program through an open file. It is valid even if the process has another root
	// directory.
	binary = "/proc/self/fd/3"
)

// child is a process that runs the command, or that waits for the permission to execute it.
type child struct {
	*tree.Family
	gate io.WriteCloser
	// ready receives one value: nil when the process is ready to execute the command, or the reason why it refuses.
	// Then failed receives one value: nil, or the reason why the command could not be executed.
	ready, failed chan *hostjob.Result
	output        io.Reader
}

// launch starts a shim (the process that becomes the command) and sends the command to it.
func launch(s spec) (*child, error) {
	var files pipes
	err, pid := files.open(), 0
	if err == nil {
		pid, err = files.fork()
	}
	files.closeShimEnds() // otherwise a read from a pipe would not end when the new process ends
	if err != nil {
		files.closeOwnEnds()
		return nil, fmt.Errorf("start the process for the command: %w", err)
	}
	c := &child{Family: tree.Watch(pid), gate: files.gate, ready: make(chan *hostjob.Result, 1), failed: make(chan *hostjob.Result, 1), output: files.output}
	go c.listen(files.report)
	if err := json.NewEncoder(c.gate).Encode(s); err != nil {
		c.abandon()
		return nil, fmt.Errorf("pass the command to its process: %w", err)
	}
	return c, nil
}

// listen receives up to two reports from the shim: whether it is ready, and why it could not execute the command.
func (c *child) listen(report io.Reader) {
	decoder := json.NewDecoder(report)
	for _, to := range []chan *hostjob.Result{c.ready, c.failed} {
		var r *hostjob.Result
		if err := decoder.Decode(&r); err != nil && to == c.ready {
			r = hostjob.Refuse(hostjob.ReasonNotReady, "the process for the command ended before it was ready")
		}
		to <- r
	}
}

// release permits the shim, the process that becomes the command, to execute the command.
func (c *child) release() error {
	_, err := c.gate.Write([]byte{1})
	return errors.Join(err, c.gate.Close())
}

// abandon ends a shim (the process that would become the command) that got no permission to execute the command.
func (c *child) abandon() {
	_ = c.gate.Close()
	select {
	case <-c.Empty:
	case <-time.After(time.Second):
		tree.KillAll()
	}
}

// pipes holds the files of a shim (the process that becomes the command), and the ends of the pipes that this process
// keeps.
type pipes struct {
	null, gateEnd, reportEnd, outputEnd *os.File // ends of the pipes that the shim uses
	gate, report, output                *os.File // ends of the pipes that this process uses
}

func (p *pipes) open() (err error) {
	if p.null, err = os.Open(os.DevNull); err != nil {
		return err
	}
	if p.gateEnd, p.gate, err = pipe(); err != nil {
		return err
	}
	if p.report, p.reportEnd, err = pipe(); err != nil {
		return err
	}
	p.output, p.outputEnd, err = pipe()
	return err
}

// fork starts a shim, the process that becomes the command, in a session of its own and with an empty environment.
func (p *pipes) fork() (int, error) {
	return syscall.ForkExec(binary, append([]string{"opcrew-agent"}, stageArgs(shimStage)...), &syscall.ProcAttr{
		Env:   []string{},
		Files: []uintptr{p.null.Fd(), p.outputEnd.Fd(), p.outputEnd.Fd(), binaryFile, p.gateEnd.Fd(), p.reportEnd.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}

// pipe returns the two ends of a pipe in blocking mode, because programs do not expect non-blocking output. The price
// is that each blocked read in this process occupies a thread.
func pipe() (read, write *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("create a pipe: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}

func (p *pipes) closeShimEnds() { closeAll(p.null, p.gateEnd, p.reportEnd, p.outputEnd) }
func (p *pipes) closeOwnEnds()  { closeAll(p.gate, p.report, p.output) }

func closeAll(files ...*os.File) {
	for _, file := range files {
		if file != nil {
			file.Close()
		}
	}
}
