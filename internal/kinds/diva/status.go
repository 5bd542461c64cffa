// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// blockers are what stands in the way of Ready, the first that does being its cause.
var blockers = []condition.Blocker{
	condition.Unless(opsv1.DivaChildrenReady),
	condition.Unless(opsv1.DivaSSHReady),
	condition.Unless(opsv1.DivaStorageReady),
	condition.Unless(opsv1.DivaClientsReady),
	condition.Unless(opsv1.DivaManagerReady),
}

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(d *opsv1.Diva, f facts, done kit.Outcome, now time.Time) {
	decided := decide(d, f)
	set := condition.Set{Conditions: &d.Status.Conditions, Generation: d.Generation, Now: now}
	reportNumbers(d, f)
	kit.ReportChildren(set, opsv1.DivaChildrenReady, done)
	reportSSH(set, d, f, decided, done)
	reportStorage(set, d, f)
	f.clients.Report(set, opsv1.DivaClientsReady, "clients", clients(d).Names(d.Spec.Client.Replicas), done)
	f.manager.ReportAs(set, opsv1.DivaManagerReady, managerReplicas(d), done)
	f.reportAttachment(set)
	reportHeld(set, opsv1.DivaClientsReady, decided.clients, f.clients.Set != nil)
	reportHeld(set, opsv1.DivaManagerReady, decided.manager, f.manager.Deployment != nil)
	reportKeys(set, d)
	set.SumUp(blockers, opsv1.ReasonAllReady, fmt.Sprintf("%s managers and %s clients are ready", d.Status.Manager, d.Status.Clients))
	append(f.clients.Leftovers(now), f.manager.Leftovers(now)...).Report(set)
}

// Echo fills in the article's message.
func (r *reconciler) Echo(d *opsv1.Diva) { d.Status.Message = message(d) }

// reportNumbers fills in the article's numbers: ready ones, of those that the spec asks for.
func reportNumbers(d *opsv1.Diva, f facts) {
	s, wanted := &d.Status, d.Spec.Client.Replicas
	s.Clients = fmt.Sprintf("%d/%d", f.clients.Ready(clients(d).Names(max(wanted, f.clients.Replicas()))), wanted)
	s.Manager = fmt.Sprintf("%d/%d", f.manager.Ready(), managerReplicas(d))
	s.Replicas = f.clients.Replicas()
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: clients(d).Selector})
}

// message is that of Ready; where nothing stands in its way, with what else is worth knowing.
func message(d *opsv1.Diva) string {
	ready := meta.FindStatusCondition(d.Status.Conditions, opsv1.DivaReady)
	if ready == nil {
		return ""
	}
	text := ready.Message
	if ready.Status != metav1.ConditionTrue {
		return text
	}
	if why := remade(d); why != "" {
		text += "; claims " + why
	}
	if warning := meta.FindStatusCondition(d.Status.Conditions, opsv1.DivaKeyWarning); warning != nil {
		text += "; " + warning.Message
	}
	return text
}

// reportHeld says why pods are not what the spec asks for.
func reportHeld(set condition.Set, kind string, held *obstacle, running bool) {
	switch {
	case held == nil:
	case running:
		set.False(kind, held.reason, held.message+"; the pods that run stay as they are")
	default:
		set.False(kind, held.reason, held.message)
	}
}

// Tell makes an event of every phase of a change of the key pair, and of what becomes of
// claims that someone deletes.
func (r *reconciler) Tell(before, after *opsv1.Diva) []kit.Event {
	return append(tellKeys(before, after), tellClaims(before, after)...)
}

// tellClaims reports a claim that is being deleted once, and of each that came back.
func tellClaims(before, after *opsv1.Diva) []kit.Event {
	c := meta.FindStatusCondition(after.Status.Conditions, opsv1.DivaStorageReady)
	switch {
	case c != nil && c.Reason == opsv1.ReasonClaimTerminating && !told(before, c.Type, c.Reason):
		return []kit.Event{{Warning: true, Reason: c.Reason, Action: "KeepClaims", Note: c.Message}}
	case remade(after) != "" && remade(after) != remade(before):
		return []kit.Event{{Warning: true, Reason: opsv1.ReasonClaimRemade, Action: "KeepClaims", Note: "Claims " + remade(after)}}
	}
	return nil
}

func tellKeys(before, after *opsv1.Diva) []kit.Event {
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

// applying reports that something is on its way, in a condition.
func applying(set condition.Set, kind, message string) {
	set.False(kind, common.ReasonApplying, message)
}
