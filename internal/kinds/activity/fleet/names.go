// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fleet decides which hosts of a fleet start next, and summarizes their results. A fleet is an Activity with
// spec.hosts: it runs no command itself, but creates an Activity per host. The package has no side effects. Package
// activity reads the cluster, and checks rights and approvals.
package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// Label is a label of the Activities of single hosts, with the name of their fleet.
const Label = claims.FleetLabel

// longestName is the length limit of the name of an object.
const longestName = 253

// Is reports whether an Activity is a fleet.
func Is(a *egov1.Activity) bool { return a.Spec.Hosts != nil }

// ChildName returns the name of the Activity that runs the command on one host. It depends only on the fleet, the run
// and the host, so that two operators create only one Activity.
func ChildName(fleet string, run int64, host string) string {
	name := fmt.Sprintf("%s-%d-%s", fleet, run, host)
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(host))
	return strings.TrimRight(name[:longestName-11], "-.") + "-" + hex.EncodeToString(sum[:5])
}

// SSHOf returns how to reach a host of a fleet over SSH; nil if the host is a node.
func SSHOf(a *egov1.Activity, host string) *egov1.SSH {
	ssh := a.Spec.Hosts.SSH
	if ssh == nil {
		return nil
	}
	for _, h := range ssh.Hosts {
		if string(h.Name) == host {
			return &egov1.SSH{Address: h.Address, Secret: ssh.Secret}
		}
	}
	return nil
}

// RunOf returns the run of a fleet to which a child belongs; false if the name of the child is not one that the fleet
// gives.
func RunOf(fleet string, child *egov1.Activity) (int64, bool) {
	rest, ok := strings.CutPrefix(child.Name, fleet+"-")
	number, _, _ := strings.Cut(rest, "-")
	run, err := strconv.ParseInt(number, 10, 64)
	return run, ok && err == nil && child.Name == ChildName(fleet, run, child.Spec.Host)
}
