// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/exit"
	"github.com/opcrew/opcrew/internal/agents/shared/tail"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// Exit codes other than etcd's own and etcdstart.RefusedCode.
const (
	notExecutedCode = 127 // as of a shell
	signalBase      = 128 // plus the signal that ended etcd
)

const (
	tailSize = 2 << 10
	// pipeTime is how long the end of etcd's output may take to come when it has ended.
	pipeTime = time.Second
)

// run is etcd from its start to its end. When the context ends, etcd is asked to end, and is
// waited for as long as that takes: the kubelet has patience and a SIGKILL of its own.
func run(ctx context.Context, o Options) error {
	// The kernel kills a child when the thread ends that has started it, not when the process
	// does. This thread stays until etcd has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said := tail.New(tailSize)
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stdout, io.MultiWriter(os.Stderr, said)
	cmd.SysProcAttr, cmd.WaitDelay = attributes(), pipeTime
	if err := cmd.Start(); err != nil {
		return ended(o, notExecutedCode, "etcd cannot be executed", err.Error())
	}
	// Once, whatever number of signals comes: a second one would have etcd end at once, before
	// it has handed over its leadership. SIGTERM and SIGINT are the same to etcd.
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	_ = cmd.Wait() // what there is to know is in the state
	code, how := conclude(cmd.ProcessState)
	switch {
	case code == 0:
		return nil
	case ctx.Err() != nil:
		return &exit.Error{Code: code, Err: errors.New("etcd was asked to end: " + how)}
	}
	return ended(o, code, how, lastLines(said))
}

// ended reports an end that no one has asked for.
func ended(o Options, code int, how, said string) error {
	r := etcdstart.Report{Reason: etcdstart.EtcdEnded, Message: strings.TrimSpace(how + ": " + said)}
	return errors.Join(&exit.Error{Code: code, Err: etcdstart.Report{Reason: etcdstart.EtcdEnded, Message: how}}, writeReport(o.Termination, r))
}

// conclude gives the exit code that stands for how a process has ended, and that in words.
func conclude(state *os.ProcessState) (code int, how string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalBase + int(status.Signal()), fmt.Sprintf("etcd was ended by signal %d (%s)", status.Signal(), status.Signal())
	}
	return state.ExitCode(), fmt.Sprintf("etcd ended with exit code %d", state.ExitCode())
}

// lastLines drops the line that the tail has cut into, if there is another.
func lastLines(said *tail.Tail) string {
	text := strings.TrimRight(said.Text(), "\n")
	if _, rest, more := strings.Cut(text, "\n"); said.Cut() && more {
		return rest
	}
	return text
}
