// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"fmt"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
)

// service is the supervisor's record of one service. Only the goroutine that executes supervisor.run uses it.
type service struct {
	want      machine.Service
	pid       int
	restarts  int
	lastExit  string
	notBefore time.Time // the service must not start again before this time
	stopping  time.Time // time of the SIGTERM; zero if none was sent
	removed   bool
}

// ended records that the service's process has ended.
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

// stop sends SIGTERM to the service. converge later kills the process if it does not end in time.
func (svc *service) stop(now time.Time) {
	if svc.pid != 0 && svc.stopping.IsZero() {
		_ = syscall.Kill(svc.pid, syscall.SIGTERM)
		svc.stopping = now
	}
}
