// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// blockers are what stands in the way of Ready, the first that does being its cause. One pod has no copy
// elsewhere, and is what was asked for.
func blockers(c *redisv1alpha1.RedisEnterpriseCluster) []condition.Blocker {
	out := []condition.Blocker{
		condition.Unless(redisv1alpha1.ConditionChildrenReady),
		condition.WhenTrue(redisv1alpha1.ConditionDataAtRisk),
	}
	if podsNeedAHand(c) {
		out = append(out, condition.Unless(redisv1alpha1.ConditionPodsReady))
	}
	out = append(out,
		condition.Unless(redisv1alpha1.ConditionAvailable),
		condition.Unless(redisv1alpha1.ConditionPodsReady),
		condition.Unless(redisv1alpha1.ConditionUpToDate),
		condition.WhenTrue(redisv1alpha1.ConditionMemoryFull),
		condition.WhenTrue(redisv1alpha1.ConditionStorageFailing))
	if nodes(c) > 1 {
		out = append(out, condition.Unless(redisv1alpha1.ConditionRedundant))
	}
	return out
}

// podsNeedAHand reports whether something at the pods keeps a cluster from being formed, such as an image that cannot be
// pulled: that its servers do not answer follows from it.
func podsNeedAHand(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	told := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionPodsReady)
	return !formed(c) && told != nil && (told.Reason == common.ReasonPodsNotReady || told.Reason == common.ReasonPodsMissing)
}

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(c *redisv1alpha1.RedisEnterpriseCluster, f facts, done kit.Outcome, now time.Time) {
	if c.DeletionTimestamp != nil {
		c.Status.State = stateOf(situation{deleting: true})
		return
	}
	asMade := *f.asMade(c)
	f.report(&asMade, f.otherVolumes(c), done, now)
	c.Status = asMade.Status
}

// report reports a cluster as it is made, and of other volumes that are asked for.
func (f facts) report(c *redisv1alpha1.RedisEnterpriseCluster, otherVolumes string, done kit.Outcome, now time.Time) {
	set := condition.Set{Conditions: &c.Status.Conditions, Generation: c.Generation, Now: now}
	d := f.decide(c)
	f.reportNames(c, d)
	reportChildren(set, c, done)
	d.reading.reportRemarks(set, c)
	remark(set, redisv1alpha1.ConditionCertificateUnused, redisv1alpha1.ReasonInvalidCertificate, f.certificate)
	f.reportUpToDate(set, c, d, otherVolumes)
	if asleep(c) {
		f.reportSleep(set, c)
		f.Leftovers(now).Report(set)
		set.Remove(common.ConditionPlacement)
		reportRecovery(set, c, d)
		return
	}
	f.reportServers(set, c, d)
	reportRecovery(set, c, d)
	f.reportPods(set, c, d, done)
	c.Status.State = stateOf(f.situation(c, d, done))
	ready := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionPodsReady)
	set.SumUp(blockers(c), redisv1alpha1.ReasonAllPodsReady, ready.Message+" and every slot is served")
	f.Leftovers(now).Report(set)
	f.reportPlacement(set, d)
}

// reportChildren says what became of the children. A Secret that is in the way may be one that users are to log in with.
func reportChildren(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, done kit.Outcome) {
	const kind = redisv1alpha1.ConditionChildrenReady
	kit.ReportChildren(set, kind, done)
	told := meta.FindStatusCondition(*set.Conditions, kind)
	if told == nil || told.Reason != common.ReasonNameTaken {
		return
	}
	if taken, _ := done.First(ensure.Taken); taken.Ref.Kind == "Secret" && taken.Ref.Name == c.Name {
		set.False(kind, told.Reason, fmt.Sprintf("%s; to have users log in with it, write clusterCredentialSecretName: %s", told.Message, c.Name))
	}
}

// reportNames fills in what follows from the object itself, and from which pods there are. While it sleeps it
// remembers how many there were.
func (f facts) reportNames(c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	s := &c.Status
	s.SpecStatus = specStatus(d.invalid)
	s.SecretName = userSecret(c)
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: selector(c)})
	if n := f.Replicas(); n > 0 {
		s.Nodes = n
	}
	s.ReadyNodes = f.Ready(identity(c).Names(s.Nodes))
	s.Endpoints = endpoints(c, s.Nodes)
	s.PersistenceStatus = f.storage.status()
}

// reportServers says what was seen of the servers. Before they were looked at, what was last said of them stands.
func (f facts) reportServers(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision) {
	s := &c.Status
	switch {
	case !f.seen && toldOf(c):
		return
	case f.begins(c, d):
		text := "The servers form a cluster" + d.because()
		set.False(redisv1alpha1.ConditionAvailable, redisv1alpha1.ReasonCreating, text)
		set.False(redisv1alpha1.ConditionRedundant, redisv1alpha1.ReasonCreating, text)
		return
	}
	s.Slots = d.servers.slotMap()
	if n := d.servers.shards(); n > 0 || !formed(c) { // that there were any reports one in its sleep that it has data
		s.Shards = n
	}
	if version := d.servers.lowest(); version != "" {
		s.Version = version
	}
	f.reportAvailability(set, c, d)
	reportRedundant(set, d.servers)
	f.reportRisk(set, c, d)
	f.reportMemory(set, c, d)
	f.reportLogs(set, c, d)
	f.reportMove(set, c, d)
}

// toldOf reports whether anything was said of the servers yet.
func toldOf(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	told := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionAvailable)
	return told != nil && told.Reason != common.ReasonPending
}

func (f facts) reportUpToDate(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, d decision, otherVolumes string) {
	const kind = redisv1alpha1.ConditionUpToDate
	switch problem := f.credentials.problem(c); {
	case d.invalid != nil:
		set.False(kind, redisv1alpha1.ReasonInvalidSpec, d.invalid.Error())
	case problem != "":
		set.False(kind, redisv1alpha1.ReasonInvalidSpec, problem)
	case f.known.complaint != "" && f.known.complained == d.tuning.generation:
		set.False(kind, redisv1alpha1.ReasonConfigRefused, "Servers refuse a setting: "+f.known.complaint)
	case len(d.old) > 0:
		f.reportRolling(set, d)
	case f.Set != nil && f.Set.Status.ObservedGeneration < f.Set.Generation:
		set.False(kind, common.ReasonUpdating, "The StatefulSet is being changed")
	case otherVolumes != "":
		set.False(kind, redisv1alpha1.ReasonVolumesFixed, otherVolumes+"; volumes are chosen when a cluster is made: make another and move the data, or put persistentSpec back")
	default:
		f.reportStorage(set)
	}
}

// reportStorage reports volumes that are to be larger; where all are as they are to be, nothing is left to do.
func (f facts) reportStorage(set condition.Set) {
	const kind = redisv1alpha1.ConditionUpToDate
	growing, have := f.storage.Growing()
	switch stays := f.storage.stays(); {
	case stays != "":
		set.False(kind, redisv1alpha1.ReasonVolumesFixed, stays)
	case growing != "":
		set.False(kind, redisv1alpha1.ReasonVolumesGrowing, fmt.Sprintf("%d of %d volumes have their size; %s", have, len(f.storage.Claims), growing))
	default:
		set.True(kind, redisv1alpha1.ReasonAllUpToDate, "Every pod runs what the spec says")
	}
}

// reportRolling says how far a change of the pods is, and what its next step waits for. What was last said of that stands
// until the servers are looked at: a process that writes each time what it does not know yet gets nowhere if it ends by then.
func (f facts) reportRolling(set condition.Set, d decision) {
	const kind = redisv1alpha1.ConditionUpToDate
	reason, text := common.ReasonUpdating, fmt.Sprintf("%d of %d pods run what the spec says", int(f.Replicas())-len(d.old), f.Replicas())
	before := meta.FindStatusCondition(*set.Conditions, kind)
	if f.isOld() && before != nil && before.Status == metav1.ConditionFalse && strings.HasPrefix(before.Message, text) {
		set.False(kind, before.Reason, before.Message)
		return
	}
	if d.waits.reason != "" {
		reason = d.waits.reason
	}
	if d.waits.words != "" {
		text += "; " + d.waits.words
	}
	set.False(kind, reason, text)
}

// reportSleep is for a cluster whose pods are stopped, or are about to be.
func (f facts) reportSleep(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	const text = "The spec says so: there are no pods, and their claims are kept"
	set.False(redisv1alpha1.ConditionAvailable, redisv1alpha1.ReasonHibernating, text)
	set.False(redisv1alpha1.ConditionRedundant, redisv1alpha1.ReasonHibernating, text)
	for _, kind := range []string{redisv1alpha1.ConditionMigrating, redisv1alpha1.ConditionDataAtRisk, redisv1alpha1.ConditionMemoryFull, redisv1alpha1.ConditionStorageFailing} {
		set.Remove(kind)
	}
	c.Status.Move = nil
	c.Status.State = stateOf(situation{made: f.Set != nil, asleep: true})
	if f.Going(set.Now) || f.Replicas() > 0 {
		set.False(redisv1alpha1.ConditionPodsReady, common.ReasonUpdating, fmt.Sprintf("%d pods are stopping", len(f.Pods)))
		set.False(redisv1alpha1.ConditionReady, common.ReasonUpdating, fmt.Sprintf("%d pods are stopping", len(f.Pods)))
		return
	}
	set.True(redisv1alpha1.ConditionPodsReady, redisv1alpha1.ReasonHibernating, text)
	set.SumUp(blockers(c)[:1], redisv1alpha1.ReasonHibernating, text)
}

// situation is what the vendor's state depends on.
func (f facts) situation(c *redisv1alpha1.RedisEnterpriseCluster, d decision, done kit.Outcome) situation {
	children := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionChildrenReady)
	out := situation{
		invalid: d.invalid != nil,
		refused: done.Err != nil || children != nil && (children.Reason == common.ReasonRefused || children.Reason == common.ReasonNameTaken),
		made:    f.Set != nil, formed: formed(c), rolling: len(d.old) > 0, upgrading: f.upgrades(d.old),
	}
	if !f.seen { // as it was last told
		switch c.Status.State {
		case redisv1alpha1.StateInitializing:
			out.answering = 1
		case redisv1alpha1.StateError:
			out.served = 1
		}
		if meta.IsStatusConditionTrue(c.Status.Conditions, redisv1alpha1.ConditionAvailable) {
			out.served = redisv1alpha1.Slots
		}
		return out
	}
	out.served = redisv1alpha1.Slots - f.unserved(d).Len() - f.refusing(d).Len()
	for _, s := range d.servers {
		if s.answers {
			out.answering++
		}
	}
	return out
}
