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

// These exit codes are used in addition to etcd's own and etcdstart.RefusedCode.
const (
	notExecutedCode = 127 // the same as in a shell
	signalBase      = 128 // plus the number of the signal that killed etcd
)

const (
	tailSize = 2 << 10
	// pipeTime is how long to wait for the last output of etcd after etcd has ended.
	pipeTime = time.Second
)

// run starts etcd and waits until it ends. When ctx ends, it sends SIGTERM to etcd and waits without a time limit,
// because the kubelet sends SIGKILL after the grace period.
func run(ctx context.Context, o Options) error {
	// The kernel kills etcd when the thread that started it ends. Locking the goroutine to its thread keeps the thread
	// until etcd has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said := tail.New(tailSize)
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stdout, io.MultiWriter(os.Stderr, said)
	cmd.SysProcAttr, cmd.WaitDelay = attributes(), pipeTime
	if err := cmd.Start(); err != nil {
		return ended(o, notExecutedCode, "etcd cannot be executed", err.Error())
	}
	// etcd gets only one signal, even if this process receives several. At a second signal, etcd would end at once,
	// before it has handed over its leadership. etcd handles SIGTERM and SIGINT in the same way.
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop()
	_ = cmd.Wait() // ProcessState contains the result
	code, how := conclude(cmd.ProcessState)
	switch {
	case code == 0:
		return nil
	case ctx.Err() != nil:
		return &exit.Error{Code: code, Err: errors.New("etcd ended after a signal: " + how)}
	}
	return ended(o, code, how, lastLines(said))
}

// ended writes a report for an etcd that ended without being stopped.
func ended(o Options, code int, how, said string) error {
	r := etcdstart.Report{Reason: etcdstart.EtcdEnded, Message: strings.TrimSpace(how + ": " + said)}
	return errors.Join(&exit.Error{Code: code, Err: etcdstart.Report{Reason: etcdstart.EtcdEnded, Message: how}}, writeReport(o.Termination, r))
}

// conclude returns how a process ended, as an exit code and as text.
func conclude(state *os.ProcessState) (code int, how string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalBase + int(status.Signal()), fmt.Sprintf("etcd was killed by signal %d (%s)", status.Signal(), status.Signal())
	}
	return state.ExitCode(), fmt.Sprintf("etcd ended with exit code %d", state.ExitCode())
}

// lastLines returns the last lines of etcd's output. If the first of these lines is incomplete, lastLines drops it,
// unless it is the only line.
func lastLines(said *tail.Tail) string {
	text := strings.TrimRight(said.Text(), "\n")
	if _, rest, more := strings.Cut(text, "\n"); said.Cut() && more {
		return rest
	}
	return text
}
