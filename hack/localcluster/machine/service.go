// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine starts and kills simulated machines, which consist of Linux namespaces. On each machine, a process
// called the init runs services, which are long-running processes. Package machineinit implements the init, and package
// network creates links and addresses.
//
// To run a service:
//
//	machine.Run(st, state.ControlPlaneName, machine.Service{
//		Name: "coredns",
//		Args: []string{st.Binary("coredns"), "-conf", file},
//	})
//
// Run starts the process in the machine's network and pid namespaces. The process writes its log to st.LogFile(machine,
// name). The init restarts the process when it ends, and after a crash of the machine. If a service with another
// specification runs, Run restarts it with the new specification. Remove ends a service permanently. All services of a
// machine end with the machine, so `localcluster down` needs no list of services. A service inherits no open files, and
// its environment contains only the variables of its specification.
package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/proc"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Service is a long-running process of a machine.
type Service struct {
	Name string   `json:"name"`
	Args []string `json:"args"`          // the first is an absolute path
	Env  []string `json:"env,omitempty"` // added to the machine's PATH and HOME; overrides them if set here
	Dir  string   `json:"dir,omitempty"`
	// WaitFor is the path of a file, such as a socket. The init starts the service once the file exists.
	WaitFor string `json:"waitFor,omitempty"`
}

// ServiceStatus is the init's report about one service.
type ServiceStatus struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"` // in the machine's pid namespace; 0 while the service does not run
	Restarts int    `json:"restarts"`
	LastExit string `json:"lastExit,omitempty"`
}

// Run adds a service to a machine. If the machine already has a service of that name, Run replaces its specification.
func Run(st *state.State, machine string, s Service) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(st.ServiceDir(machine), s.Name+".json")
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := state.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("service %s on %s: %w", s.Name, machine, err)
	}
	return notify(st, machine)
}

// Remove ends a service of a machine. It returns no error if the service does not exist.
func Remove(st *state.State, machine, name string) error {
	err := os.Remove(filepath.Join(st.ServiceDir(machine), name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("service %s on %s: %w", name, machine, err)
	}
	return notify(st, machine)
}

// notify makes the init read the service directory at once, instead of within a second.
func notify(st *state.State, machine string) error {
	return find(st, machine).Signal(syscall.SIGHUP)
}

func find(st *state.State, machine string) proc.Identity {
	for _, m := range st.Machines() {
		if m.Name == machine {
			return m.Init
		}
	}
	return proc.Identity{}
}

// Services reads the specifications of a machine's services, sorted by name.
func Services(dir string) ([]Service, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Service
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the service was removed after Glob listed the file
		}
		if err != nil {
			return nil, err
		}
		var s Service
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, nil
}

// StatusFile returns the path of the file to which the init writes the status of its services. The file exists once the
// machine has booted.
func StatusFile(st *state.State, machine string) string {
	return filepath.Join(st.MachineDir(machine), "status.json")
}

// Status reads the init's latest report about the machine's services.
func Status(st *state.State, machine string) ([]ServiceStatus, error) {
	data, err := os.ReadFile(StatusFile(st, machine))
	if err != nil {
		return nil, err
	}
	var all []ServiceStatus
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("status of %s: %w", machine, err)
	}
	return all, nil
}

const endTimeout = 20 * time.Second

// End kills a machine. SIGKILL ends the machine's init, and the kernel then ends every other process on the machine.
func End(m state.Machine) error {
	if err := m.Init.Kill(endTimeout); err != nil {
		return fmt.Errorf("end machine %s: %w", m.Name, err)
	}
	return nil
}
