// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// blockers lists the conditions that can keep Ready from being True. If several of them do, Ready reports the first one
// in this order.
var blockers = []condition.Blocker{
	condition.Unless(customv1.MicroServiceDeployChildrenReady),
	condition.WhenFalse(customv1.MicroServiceDeployAuthReady),
	condition.Unless(customv1.MicroServiceDeployRolledOut),
	condition.WhenFalse(customv1.MicroServiceDeployHostReady),
	condition.WhenFalse(customv1.MicroServiceDeployAutoscaled),
}

// Report fills in the status from the facts and the outcome of the plan.
func (r *reconciler) Report(m *customv1.MicroServiceDeploy, f facts, d decision, done kit.Outcome) {
	s := &m.Status
	set := condition.Set{Conditions: &s.Conditions, Generation: m.Generation, Now: done.Now}
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: names.Identity(m).Selector})
	s.Replicas, s.ReadyReplicas = f.rollout.Replicas(), f.rollout.Ready()
	s.Revision = d.running(f.rollout)
	if f.rollout.Deployment != nil {
		s.Revisions = revisions.List(f.rollout)
	}
	done.ReportChildren(set, customv1.MicroServiceDeployChildrenReady)
	f.nodePorts.Report(set, customv1.MicroServiceDeployChildrenReady, done)
	f.rollout.Report(set, d.scale.Wanted(f.rollout), done)
	if d.held != nil {
		set.False(customv1.MicroServiceDeployRolledOut, d.held.reason, d.held.message+podsStay(f.rollout))
	}
	noteRollback(set, m, d)
	reportHosts(set, m, d, f.gateways)
	reportAuth(set, m, authInput{f.credentials, f.foreign, f.costly, f.trouble})
	reportScaling(set, m, f.scaler)
	reportQuota(set, m, f.tenant, f.trouble)
	reportConfig(set, m)
	sumUp(set, m, d)
	f.rollout.Leftovers(done.Now).Report(set)
}

func sumUp(set condition.Set, m *customv1.MicroServiceDeploy, d decision) {
	rolled := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployRolledOut)
	reason, message := rolled.Reason, rolled.Message
	if m.Spec.Idle {
		reason, message = customv1.ReasonIdle, fmt.Sprintf("spec.idle is set, so the instance has no pods; %d pods start when spec.idle is removed", d.scale.Awake)
	}
	set.SumUp(blockers, reason, message)
}

func podsStay(r workload.Rollout) string {
	if r.Deployment == nil {
		return ""
	}
	return fmt.Sprintf("; the %d running pods stay unchanged", r.Running())
}

// noteRollback adds a text to the message of the condition RolledOut: the parts of the spec that are not applied
// because of spec.rollbackTo. Usually, the condition Ready repeats this message.
func noteRollback(set condition.Set, m *customv1.MicroServiceDeploy, d decision) {
	const kind = customv1.MicroServiceDeployRolledOut
	words := d.rolledBack(m)
	switch rolled := meta.FindStatusCondition(*set.Conditions, kind); {
	case words == "":
	case rolled.Status == metav1.ConditionTrue:
		set.True(kind, rolled.Reason, rolled.Message+"; "+words)
	default:
		set.False(kind, rolled.Reason, rolled.Message+"; "+words)
	}
}
