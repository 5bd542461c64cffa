// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

const host = "node1"

func newTestSupervisor(t *testing.T, services ...machine.Service) *supervisor {
	t.Helper()
	st := &state.State{Dir: t.TempDir()}
	for _, s := range services {
		if err := machine.Run(st, host, s); err != nil {
			t.Fatal(err)
		}
	}
	return newSupervisor(st, host)
}

func sleeper(name string) machine.Service {
	return machine.Service{Name: name, Args: []string{"/bin/sleep", "60"}}
}

// reapOne waits until the process of a service has ended, as the supervisor's reap does for all children.
func reapOne(t *testing.T, svc *service) {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(svc.pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	svc.ended(status, time.Now())
}

func TestAServiceThatEndsIsStartedAgainAfterAPause(t *testing.T) {
	s := newTestSupervisor(t, sleeper("a"))
	s.read()
	svc := s.services["a"]
	s.converge(svc, time.Now())
	first := svc.pid
	if first == 0 {
		t.Fatalf("did not start: %s", svc.lastExit)
	}
	_ = syscall.Kill(first, syscall.SIGKILL)
	reapOne(t, svc)
	if svc.restarts != 1 || svc.lastExit != "killed" {
		t.Errorf("restarts %d, last exit %q", svc.restarts, svc.lastExit)
	}
	if s.converge(svc, time.Now()); svc.pid != 0 {
		t.Error("started again without a pause")
	}
	s.converge(svc, time.Now().Add(restartPause))
	if svc.pid == 0 || svc.pid == first {
		t.Error("was not started again")
	}
	_ = syscall.Kill(svc.pid, syscall.SIGKILL)
	reapOne(t, svc)
}

func TestARemovedServiceEndsAndIsForgotten(t *testing.T) {
	s := newTestSupervisor(t, sleeper("a"))
	s.read()
	svc := s.services["a"]
	s.converge(svc, time.Now())
	if err := machine.Remove(s.st, host, "a"); err != nil {
		t.Fatal(err)
	}
	s.read()
	reapOne(t, svc) // the service ends only if the supervisor sent SIGTERM
	s.converge(svc, time.Now())
	if len(s.services) != 0 {
		t.Errorf("still known: %+v", svc)
	}
}

func TestAServiceWaitsForItsFile(t *testing.T) {
	waiting := sleeper("a")
	waiting.WaitFor = filepath.Join(t.TempDir(), "socket")
	s := newTestSupervisor(t, waiting)
	s.read()
	svc := s.services["a"]
	if s.converge(svc, time.Now()); svc.pid != 0 {
		t.Fatal("started without its file")
	}
	if err := os.WriteFile(waiting.WaitFor, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.converge(svc, time.Now())
	if svc.pid == 0 {
		t.Fatalf("did not start: %s", svc.lastExit)
	}
	_ = syscall.Kill(svc.pid, syscall.SIGKILL)
	reapOne(t, svc)
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	s := newTestSupervisor(t, machine.Service{Name: "a", Args: []string{"/no/such/program"}})
	s.read()
	s.converge(s.services["a"], time.Now())
	s.report()
	status, err := machine.Status(s.st, host)
	if err != nil {
		t.Fatal(err)
	}
	if len(status) != 1 || status[0].PID != 0 || status[0].LastExit == "" {
		t.Errorf("got %+v", status)
	}
}

func TestALogThatGrewTooLongIsTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	limitLog(path)
	if info, _ := os.Stat(path); info.Size() != 4 {
		t.Error("a short log was emptied")
	}
	if err := os.Truncate(path, maxLog+1); err != nil {
		t.Fatal(err)
	}
	limitLog(path)
	if info, _ := os.Stat(path); info.Size() != 0 {
		t.Error("a long log was kept")
	}
}
