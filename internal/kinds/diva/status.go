// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// blockers lists the conditions that can keep Ready from being True. Ready reports the first of them, in this order,
// that is not True.
var blockers = []condition.Blocker{
	condition.Unless(opsv1.DivaChildrenReady),
	condition.Unless(opsv1.DivaSSHReady),
	condition.Unless(opsv1.DivaStorageReady),
	condition.Unless(opsv1.DivaClientsReady),
	condition.Unless(opsv1.DivaManagerReady),
}

// Report fills in the status from the facts and the outcome.
func (r *reconciler) Report(d *opsv1.Diva, f facts, decided decision, done kit.Outcome) {
	set := condition.Set{Conditions: &d.Status.Conditions, Generation: d.Generation, Now: done.Now}
	reportNumbers(d, f)
	done.ReportChildren(set, opsv1.DivaChildrenReady)
	reportSSH(set, d, decided, inPlace(names.SecretName(d), f.ring, decided.ring, done))
	reportStorage(set, d, decided.storage)
	f.clients.Report(set, opsv1.DivaClientsReady, "clients", names.Clients(d).Names(d.Spec.Client.Replicas), done)
	f.manager.ReportAs(set, opsv1.DivaManagerReady, names.ManagerReplicas(d), done)
	reportAttachment(set, d, f)
	reportHeld(set, opsv1.DivaClientsReady, decided.clients, f.clients.Set != nil)
	reportHeld(set, opsv1.DivaManagerReady, decided.manager, f.manager.Deployment != nil)
	reportKeyWarning(set, d, decided.pods.Sharing)
	set.SumUp(blockers, opsv1.ReasonAllReady, fmt.Sprintf("%s managers and %s clients are ready", d.Status.Manager, d.Status.Clients))
	append(f.clients.Leftovers(done.Now), f.manager.Leftovers(done.Now)...).Report(set)
}

// finish fills in status.message. This field also exists in the tutorial article that this API comes from.
func (r *reconciler) finish(d *opsv1.Diva) { d.Status.Message = message(d) }

// reportStorage reports the state of the claims.
func reportStorage(set condition.Set, d *opsv1.Diva, s storage.Decision) {
	d.Status.Storage = s.Status
	if v := s.Verdict; v.Ready {
		set.True(opsv1.DivaStorageReady, v.Reason, v.Message)
	} else {
		set.False(opsv1.DivaStorageReady, v.Reason, v.Message)
	}
}

// reportNumbers fills in the numbers in the status: the ready pods out of the desired pods, such as 2/3.
func reportNumbers(d *opsv1.Diva, f facts) {
	s, wanted := &d.Status, d.Spec.Client.Replicas
	s.Clients = fmt.Sprintf("%d/%d", f.clients.Ready(names.Clients(d).Names(max(wanted, f.clients.Replicas()))), wanted)
	s.Manager = fmt.Sprintf("%d/%d", f.manager.Ready(), names.ManagerReplicas(d))
	s.Replicas = f.clients.Replicas()
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: names.Clients(d).Selector})
}

// message returns the message of the condition Ready. If Ready is True, warnings are appended.
func message(d *opsv1.Diva) string {
	ready := meta.FindStatusCondition(d.Status.Conditions, opsv1.DivaReady)
	if ready == nil {
		return ""
	}
	text := ready.Message
	if ready.Status != metav1.ConditionTrue {
		return text
	}
	if why := storage.Recreated(d.Status.Storage); why != "" {
		text += "; claims " + why
	}
	if warning := meta.FindStatusCondition(d.Status.Conditions, opsv1.DivaKeyWarning); warning != nil {
		text += "; " + warning.Message
	}
	return text
}

// reportHeld sets the condition that explains why pods do not follow the spec.
func reportHeld(set condition.Set, kind string, held *obstacle, running bool) {
	switch {
	case held == nil:
	case running:
		set.False(kind, held.reason, held.message+"; running pods stay unchanged")
	default:
		set.False(kind, held.reason, held.message)
	}
}

// transitions returns events for each phase of a key change, and for claims that a user deleted.
func (r *reconciler) transitions(before, after *opsv1.Diva) []kit.Event {
	return append(keyTransitions(before, after), claimTransitions(before, after)...)
}

// claimTransitions returns an event when a claim is being deleted, and when claims were recreated.
func claimTransitions(before, after *opsv1.Diva) []kit.Event {
	c := meta.FindStatusCondition(after.Status.Conditions, opsv1.DivaStorageReady)
	recreated := storage.Recreated(after.Status.Storage)
	switch {
	case c != nil && c.Reason == opsv1.ReasonClaimTerminating && !hasReason(before, c.Type, c.Reason):
		return []kit.Event{{Warning: true, Reason: c.Reason, Action: "KeepClaims", Note: c.Message}}
	case recreated != "" && recreated != storage.Recreated(before.Status.Storage):
		return []kit.Event{{Warning: true, Reason: opsv1.ReasonClaimRemade, Action: "KeepClaims", Note: "Claims " + recreated}}
	}
	return nil
}

func keyTransitions(before, after *opsv1.Diva) []kit.Event {
	if after.Status.SSH == nil {
		return nil
	}
	was, is := opsv1.SSHStatus{}, *after.Status.SSH
	if before.Status.SSH != nil {
		was = *before.Status.SSH
	}
	if cmp.Or(was.Phase, opsv1.SSHInUse) == is.Phase {
		return nil
	}
	c := meta.FindStatusCondition(after.Status.Conditions, opsv1.DivaSSHReady)
	return []kit.Event{{
		Warning: c.Reason == opsv1.ReasonKeyLost,
		Reason:  "KeyPair" + string(is.Phase), Action: "ChangeKeyPair", Note: c.Message,
	}}
}
