// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineinit

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"sort"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

const (
	tick         = time.Second            // interval of converge, in case an event was missed
	soon         = 20 * time.Millisecond  // poll interval while a service waits for a file
	restartPause = 500 * time.Millisecond // keeps a service that always fails from using a whole CPU
	stopGrace    = 5 * time.Second        // from SIGTERM to SIGKILL
)

type supervisor struct {
	st       *state.State
	machine  string
	services map[string]*service
	reported []machine.ServiceStatus
}

func newSupervisor(st *state.State, name string) *supervisor {
	return &supervisor{st: st, machine: name, services: map[string]*service{}}
}

// run calls converge for every service when a child has ended, when SIGHUP reports changed services, and on every tick.
// It never returns.
func (s *supervisor) run() {
	events := make(chan os.Signal, 16)
	signal.Notify(events, syscall.SIGCHLD, syscall.SIGHUP)
	for {
		s.reap()
		s.read()
		now := time.Now()
		next := tick
		for _, name := range s.names() {
			next = min(next, s.converge(s.services[name], now))
		}
		s.report()
		select {
		case <-events:
		case <-time.After(next):
		}
	}
}

// reap waits for every child that has ended, whether it is a service or an orphan. Nothing else in this process may
// wait for children.
func (s *supervisor) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		for _, svc := range s.services {
			if svc.pid == pid {
				svc.ended(status, time.Now())
			}
		}
	}
}

// read reads from the service directory which services should run.
func (s *supervisor) read() {
	wanted, err := machine.Services(s.st.ServiceDir(s.machine))
	if err != nil {
		fmt.Fprintln(os.Stderr, "read services:", err)
		return
	}
	seen := map[string]bool{}
	for _, want := range wanted {
		seen[want.Name] = true
		svc := s.services[want.Name]
		if svc == nil {
			svc = &service{want: want}
			s.services[want.Name] = svc
		}
		if svc.removed || !reflect.DeepEqual(svc.want, want) {
			svc.stop(time.Now())
			svc.want, svc.removed = want, false
		}
	}
	for name, svc := range s.services {
		if !seen[name] {
			svc.removed = true
			svc.stop(time.Now())
		}
	}
}

// converge starts, stops or kills one service as needed. It returns how long the caller should wait before the next
// call.
func (s *supervisor) converge(svc *service, now time.Time) time.Duration {
	switch {
	case svc.pid != 0 && !svc.stopping.IsZero():
		if now.Sub(svc.stopping) > stopGrace {
			_ = syscall.Kill(svc.pid, syscall.SIGKILL)
		}
		return tick
	case svc.pid != 0:
		limitLog(s.st.LogFile(s.machine, svc.want.Name))
		return tick
	case svc.removed:
		delete(s.services, svc.want.Name)
		return tick
	case now.Before(svc.notBefore):
		return svc.notBefore.Sub(now)
	case svc.want.WaitFor != "" && !exists(svc.want.WaitFor):
		return soon
	}
	s.start(svc, now)
	return tick
}

func (s *supervisor) names() []string {
	names := make([]string, 0, len(s.services))
	for name := range s.services {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// report writes the status of all services to the status file if it has changed.
func (s *supervisor) report() {
	status := []machine.ServiceStatus{}
	for _, name := range s.names() {
		svc := s.services[name]
		status = append(status, machine.ServiceStatus{Name: name, PID: svc.pid, Restarts: svc.restarts, LastExit: svc.lastExit})
	}
	if s.reported != nil && reflect.DeepEqual(status, s.reported) {
		return
	}
	data, err := json.MarshalIndent(status, "", "  ")
	if err == nil {
		err = state.WriteFile(machine.StatusFile(s.st, s.machine), data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "write status:", err)
		return
	}
	s.reported = status
}
