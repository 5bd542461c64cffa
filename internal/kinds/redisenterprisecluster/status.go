// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/report"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// Report sets the status from what was read (f), what was decided (d) and the results of the plan (done).
func (r *reconciler) Report(object *redisv1alpha1.RedisEnterpriseCluster, f facts, d decision, done kit.Outcome) {
	if object.DeletionTimestamp != nil {
		object.Status.State = report.State(report.Situation{Deleting: true})
		return
	}
	created := *object
	created.Spec = d.cluster.Spec // d.cluster has the volume settings that the pods were created with
	c := &created
	defer func() { object.Status = c.Status }()
	set := condition.Set{Conditions: &c.Status.Conditions, Generation: c.Generation, Now: done.Now}
	readyBefore := c.Status.ReadyNodes
	fillNames(c, f.Members)
	unchanged := c.Status.ReadyNodes == readyBefore
	c.Status.SpecStatus, c.Status.PersistenceStatus = report.SpecStatus(d.invalid), f.storage.Status()
	ring := report.Ring{Decision: d.Decision, Servers: d.servers, View: f.view, Seen: f.seen, AnyRuns: observed.AnyRuns(f.Pods)}

	report.Children(set, c, done)
	report.Remarks(set, c, d.spec, f.certificate)
	report.Rollout{
		Problem: d.problem(), Complaint: d.complaint, Members: f.Members, Outdated: len(d.Outdated), Wait: d.Wait,
		Difference: d.difference, Storage: f.storage, IsOld: ring.IsOld(), Unchanged: unchanged,
	}.Report(set)
	if desired.Hibernates(c) {
		report.Hibernation(set, c, f.Members)
		f.Leftovers(done.Now).Report(set)
		report.Recovery(set, c, d.Decision)
		return
	}
	ring.Report(set, c)
	report.Recovery(set, c, d.Decision)
	report.Pods{Ring: ring, Members: f.Members, Unbound: f.unbound, Refused: f.known.Refused, Unchanged: unchanged}.Report(set, c, done)
	c.Status.State = report.State(ring.SituationOf(c, report.Situation{
		Invalid: d.invalid != nil, Refused: done.Err != nil, Created: f.Set != nil,
		RollsOut: len(d.Outdated) > 0, Upgrades: observed.Upgrades(f.Set, d.Outdated),
	}))
	report.Ready(set, c)
	f.Leftovers(done.Now).Report(set)
	ring.Placement(set, f.places)
}

// fillNames sets the names and the number of pods in the status. During hibernation, the number stays and records how
// many pods to start later.
func fillNames(c *redisv1alpha1.RedisEnterpriseCluster, members workload.Members) {
	s := &c.Status
	s.SecretName = desired.UserSecret(c)
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: desired.Selector(c)})
	if n := members.Replicas(); n > 0 {
		s.Nodes = n
	}
	s.ReadyNodes = members.Ready(desired.Identity(c).Names(s.Nodes))
	s.Endpoints = desired.Endpoints(c, s.Nodes)
}
