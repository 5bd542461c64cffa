// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineorder

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

const (
	// MaxOrder is the maximum size of an encoded order in bytes.
	MaxOrder = 64 << 10
	// MaxPeers is the maximum number of peers.
	MaxPeers   = 5
	maxActions = 200
	maxName    = 253
	digestSize = len("sha256-") + 64
)

// Order is what a host should do.
type Order struct {
	// Config is the name of the configuration, and Digest the hash of its encoding (hostconfig.Digest).
	Config string `json:"config"`
	Digest string `json:"digest,omitempty"`
	// Actions are what the change requires, in their order.
	Actions []Action `json:"actions,omitempty"`
	// SkipDrain is set if no pods of users run on the node, so that the agent need not request a drain.
	SkipDrain bool `json:"skipDrain,omitempty"`
	// Drift is what to do with drift; empty means ReportDrift.
	Drift Policy `json:"drift,omitempty"`
	// Peers are other nodes. The agent tests its contact with them.
	Peers []Peer `json:"peers,omitempty"`
}

// Action is one action on the host.
type Action struct {
	Type ActionType `json:"type"`
	// Unit is the unit to reload or restart.
	Unit string `json:"unit,omitempty"`
}

// ActionType is the type of an action, as in OpenShift's disruption policy.
type ActionType string

// The types of actions. A reboot stands alone.
const (
	ActionDrain        ActionType = "Drain"
	ActionDaemonReload ActionType = "DaemonReload"
	ActionReload       ActionType = "Reload"
	ActionRestart      ActionType = "Restart"
	ActionReboot       ActionType = "Reboot"
)

// Policy is what to do with changes that others make to what opcrew wrote.
type Policy string

// The policies.
const (
	ReportDrift Policy = "Report"
	RepairDrift Policy = "Repair"
	AdoptDrift  Policy = "Adopt"
)

// Peer is another node.
type Peer struct {
	Name string `json:"name"`
	// Address is the address of its kubelet, such as 10.0.0.2:10250.
	Address string `json:"address"`
}

// Reboots reports whether the order contains a reboot.
func (o *Order) Reboots() bool {
	return slices.ContainsFunc(o.Actions, func(a Action) bool { return a.Type == ActionReboot })
}

// Drains reports whether the agent must request a drain.
func (o *Order) Drains() bool {
	drains := func(a Action) bool { return a.Type == ActionDrain || a.Type == ActionReboot }
	return !o.SkipDrain && slices.ContainsFunc(o.Actions, drains)
}

// Check returns all errors of an order.
func (o *Order) Check() error {
	errs := []error{
		demand(isName(o.Config), "config %.300q is not the name of a configuration", o.Config),
		demand(o.Config == None && o.Digest == "" || o.Config != None && isDigest(o.Digest), "digest must be sha256- and 64 hexadecimal digits"),
		demand(slices.Contains([]Policy{"", ReportDrift, RepairDrift, AdoptDrift}, o.Drift), "drift must be Report, Repair or Adopt"),
		demand(len(o.Actions) <= maxActions, "there are more than %d actions", maxActions),
		demand(!o.Reboots() || len(o.Actions) == 1, "the action Reboot must be the only action"),
		demand(len(o.Peers) <= MaxPeers, "there are more than %d peers", MaxPeers),
	}
	for _, a := range o.Actions {
		errs = append(errs, a.check())
	}
	for _, p := range o.Peers {
		errs = append(errs, p.check())
	}
	return errors.Join(errs...)
}

func (a Action) check() error {
	switch a.Type {
	case ActionDrain, ActionDaemonReload, ActionReboot:
		return demand(a.Unit == "", "the action %s has no unit", a.Type)
	case ActionReload, ActionRestart:
		return errors.Join(
			demand(hostconfig.IsUnit(a.Unit), "%.300q is not the name of a unit", a.Unit),
			demand(a.Unit != Unit, "the machine agent cannot restart itself: remove the action for %s", Unit))
	}
	return fmt.Errorf("this version does not know the action %.300q", a.Type)
}

func (p Peer) check() error {
	host, port, err := net.SplitHostPort(p.Address)
	number, notNumber := strconv.ParseUint(port, 10, 16)
	valid := err == nil && notNumber == nil && number > 0 && net.ParseIP(host) != nil
	return errors.Join(
		demand(isName(p.Name), "%.300q is not the name of a peer", p.Name),
		demand(valid, "the address %.300q of a peer must have an IP address and a port", p.Address))
}

func isName(text string) bool {
	return text != "" && len(text) <= maxName && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}

func isDigest(text string) bool {
	hex, is := strings.CutPrefix(text, "sha256-")
	return is && len(text) == digestSize && strings.Trim(hex, "0123456789abcdef") == ""
}

func demand(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
