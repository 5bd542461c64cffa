// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// Host is a host of a fleet, and what is known about the current run there.
type Host struct {
	Name string
	// Problem says why the host is not available, such as "is cordoned"; empty if it is available. Held is true if the
	// run does not start there, because others work on the node.
	Problem string
	Held    bool
	// Ours is true if this fleet has cordoned the node. Last is true for the node on which the operator runs, if it is to
	// be drained.
	Ours, Last bool
	// Child is the Activity that runs the command on the host; nil if there is none.
	Child *egov1.Activity
	// Removed is the state of the run if its Activity was deleted, or never created; otherwise empty. In the second case
	// Message says why.
	Removed egov1.State
	Message string
	// Earlier is true if the command has succeeded in an earlier run, so that it does not run again.
	Earlier bool
	// Starting is true if the status records that the operator creates the Activity next. Drains is true if it drains the
	// node before.
	Starting, Drains bool
}

// State returns the state of the run on the host; empty if it has not started. A host that is drained is pending.
func (h *Host) State() egov1.State {
	if state := h.result(); state != "" || !h.Draining() {
		return state
	}
	return egov1.StatePending
}

// Draining reports whether the node is drained before its Activity is created.
func (h *Host) Draining() bool { return h.Drains && h.Unseen() }

// Unseen reports whether the status records the host as starting, and its Activity is not known yet.
func (h *Host) Unseen() bool { return h.Starting && h.result() == "" }

// result returns the state of the run on the host, as its Activity or the record of it shows.
func (h *Host) result() egov1.State {
	switch {
	case h.Child != nil && run.Over(h.Child):
		return h.Child.Status.Prosta
	case h.Child != nil && h.Child.Status.Prosta == egov1.StateRunning:
		return egov1.StateRunning
	case h.Child != nil:
		return egov1.StatePending
	}
	return h.Removed
}

// begun reports whether the run has an Activity on the host, or had one, or drains the node.
func (h *Host) begun() bool { return h.State() != "" }

// active reports whether the command may be pending or running on the host.
func (h *Host) active() bool {
	return h.State() == egov1.StatePending || h.State() == egov1.StateRunning
}

func (h *Host) over() bool { return h.begun() && !h.active() }

func (h *Host) failed() bool { return h.over() && h.State() != egov1.StateSucceeded }

// ended returns when the run on the host ended; zero if that is not known.
func (h *Host) ended() time.Time {
	if h.Child == nil || h.Child.Status.EndedAt == nil {
		return time.Time{}
	}
	return h.Child.Status.EndedAt.Time
}

// Observed is what was read about a fleet.
type Observed struct {
	// Nodes are the nodes that spec.hosts selects.
	Nodes []*corev1.Node
	// Children are the Activities of single hosts, of all runs.
	Children []*egov1.Activity
	// Operator is the node on which the operator runs; empty if it runs outside the cluster.
	Operator string
}

// HostsOf returns the hosts of a fleet in the order of their names.
func HostsOf(a *egov1.Activity, o Observed) []Host {
	hosts := collection{}
	for _, name := range a.Spec.Hosts.Names {
		hosts.at(string(name))
	}
	if ssh := a.Spec.Hosts.SSH; ssh != nil {
		for _, host := range ssh.Hosts {
			hosts.at(string(host.Name))
		}
	}
	for _, node := range o.Nodes {
		hosts.at(node.Name).read(a, node)
	}
	current, since := run.Number(a), Since(a)
	for _, child := range o.Children {
		switch number, ok := RunOf(a.Name, child); {
		case ok && number == current:
			hosts.at(child.Spec.Host).Child = child
		case ok && number >= since && number < current && run.Over(child) && child.Status.Prosta == egov1.StateSucceeded:
			hosts.at(child.Spec.Host).Earlier = true
		}
	}
	if a.Status.Fleet != nil {
		hosts.record(a.Status.Fleet, current, since)
	}
	if a.Spec.Hosts.Drain != nil {
		hosts.drain(o.Operator)
	}
	return hosts.sorted()
}

// collection maps the names of hosts to the hosts.
type collection map[string]*Host

// at returns the host with a name, and adds it if it is new.
func (c collection) at(name string) *Host {
	if c[name] == nil {
		c[name] = &Host{Name: name}
	}
	return c[name]
}

// sorted returns the hosts by name. A success of an earlier run does not count for a host that runs the command again.
func (c collection) sorted() []Host {
	out := make([]Host, 0, len(c))
	for _, h := range c {
		h.Earlier = h.Earlier && !h.begun() && !h.Starting
		out = append(out, *h)
	}
	slices.SortFunc(out, func(x, y Host) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// record adds what the status of a fleet records about its hosts.
func (c collection) record(s *egov1.FleetStatus, current, since int64) {
	for _, r := range s.Removed {
		switch {
		case r.Run == current:
			c.at(r.Host).Removed, c.at(r.Host).Message = r.State, r.Message
		case r.Run >= since && r.Run < current && r.State == egov1.StateSucceeded:
			c.at(r.Host).Earlier = true
		}
	}
	for _, name := range s.Starting {
		c.at(name).Starting = true
	}
}

// Since returns the first run of a fleet whose successes count.
func Since(a *egov1.Activity) int64 {
	if a.Status.Fleet == nil {
		return 1
	}
	return max(1, a.Status.Fleet.Since)
}
