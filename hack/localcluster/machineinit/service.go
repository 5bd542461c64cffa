// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"fmt"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
)

// service is what the supervisor knows about one; all of it belongs to the one
// goroutine of run.
type service struct {
	want      machine.Service
	pid       int
	restarts  int
	lastExit  string
	notBefore time.Time // of the next start
	stopping  time.Time // when SIGTERM was sent, zero if not
	removed   bool
}

// ended takes in that its process is gone.
func (svc *service) ended(status syscall.WaitStatus, now time.Time) {
	svc.lastExit = fmt.Sprintf("exit code %d", status.ExitStatus())
	if status.Signaled() {
		svc.lastExit = status.Signal().String()
	}
	if svc.stopping.IsZero() {
		svc.restarts++
		svc.notBefore = now.Add(restartPause)
	}
	svc.pid, svc.stopping = 0, time.Time{}
}

// stop asks the process to end; converge insists on it later.
func (svc *service) stop(now time.Time) {
	if svc.pid != 0 && svc.stopping.IsZero() {
		_ = syscall.Kill(svc.pid, syscall.SIGTERM)
		svc.stopping = now
	}
}
