// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportFleet fills in the status of a fleet. The result of an ended run stays as it is.
func reportFleet(set condition.Set, a *egov1.Activity, f fleetFacts, v fleet.Verdict, done kit.Outcome) {
	if a.Status.Run != run.Number(a) {
		openFleet(set, a, done)
		fleet.Remember(a, f.children)
		return
	}
	if a.Status.Fleet == nil { // another client has removed it
		a.Status.Fleet = fleet.Open(a)
	}
	if fleet.Remember(a, f.children); run.Over(a) {
		reportLeft(set, done)
		return
	}
	s := &a.Status
	s.SpecHash = fleet.Hash(a)
	fleet.RecordDrains(a, f.hosts)
	fleet.Count(s.Fleet, f.hosts)
	s.Fleet.Starting = fleet.Next(v, f.hosts)
	if s.Prosta = v.State; run.Over(a) {
		s.EndedAt = &metav1.Time{Time: done.Now}
	}
	reportApproved(set, a, f.obstacle)
	verdict := run.Verdict{State: v.State, Reason: v.Reason, Message: v.Message}
	reportPermitted(set, true, verdict)
	reportEnd(set, verdict, done)
}

// openFleet records a new run of a fleet in the status.
func openFleet(set condition.Set, a *egov1.Activity, done kit.Outcome) {
	record := fleet.Open(a)
	openRun(set, a, done.Now)
	a.Status.Fleet, a.Status.SpecHash = record, fleet.Hash(a)
}

func reportApproved(set condition.Set, a *egov1.Activity, obstacle *run.Obstacle) {
	if a.Spec.Hosts.Approval == nil || !a.Spec.Hosts.Approval.Required {
		set.Remove(egov1.ActivityApproved)
		return
	}
	why := fleet.Unapproved(a)
	if why == "" && obstacle != nil && obstacle.Reason == egov1.ReasonAwaitingApproval {
		why = obstacle.Message
	}
	if why != "" {
		set.False(egov1.ActivityApproved, egov1.ReasonAwaitingApproval, why)
		return
	}
	set.True(egov1.ActivityApproved, egov1.ReasonApproved, "user "+a.Spec.Hosts.Approval.Approver.Username+" approved the run")
}
