// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
)

// maxLog is the size in bytes at which a log file is emptied. The limit is necessary because a cluster may run for
// weeks.
const maxLog = 64 << 20

// start starts the process of a service. It uses syscall.ForkExec, because os/exec would wait for the child, and only
// the reaper may do that.
func (s *supervisor) start(svc *service, now time.Time) {
	pid, err := fork(svc.want, s.st.LogFile(s.machine, svc.want.Name))
	if err != nil {
		svc.lastExit = err.Error()
		svc.notBefore = now.Add(restartPause)
		svc.restarts++
		return
	}
	svc.pid = pid
}

func fork(want machine.Service, logPath string) (int, error) {
	if len(want.Args) == 0 || !filepath.IsAbs(want.Args[0]) {
		return 0, fmt.Errorf("service %s: the first argument is not an absolute path", want.Name)
	}
	if err := mkdirs(0o755, filepath.Dir(logPath)); err != nil {
		return 0, err
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer func() { _ = null.Close() }()
	dir := want.Dir
	if dir == "" {
		dir = "/"
	}
	// The kernel passes both values if a variable is set twice, and the first one takes effect.
	environment := append(slices.Clone(want.Env), "PATH="+machine.Path, "HOME=/root")
	return syscall.ForkExec(want.Args[0], want.Args, &syscall.ProcAttr{
		Dir:   dir,
		Env:   environment,
		Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}

// limitLog empties a log that exceeds maxLog. The service can continue to write, because it opened the log for
// appending.
func limitLog(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Truncate(path, 0)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
