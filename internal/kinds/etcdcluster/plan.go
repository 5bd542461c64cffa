// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/certificates"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/upkeep"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// Plan declares the objects of the cluster, and at most one change of its members. A deleted cluster needs no plan: the
// garbage collector deletes all objects including the data, as with the CoreOS operator.
func (r *reconciler) Plan(c *etcdv1beta2.EtcdCluster, f facts, d decision) kit.Plan {
	plan := r.plan(c, f, d)
	if c.Spec.Paused {
		plan.PausedBy = "spec.paused"
	}
	return plan
}

func (r *reconciler) plan(c *etcdv1beta2.EtcdCluster, f facts, d decision) kit.Plan {
	switch {
	case d.stage == behind:
		return kit.Plan{Again: time.Second}
	case d.stage == statusLost, d.recollected:
		// The status was lost, and must be written again before anything changes.
		return kit.Plan{Again: underWay}
	case d.stage == restoring:
		return planner{f, c, d}.planRestore()
	case d.stage == running:
		return r.planMembers(c, f, d)
	}
	return kit.Plan{} // the cluster is deleted, or the status must first record the start of a restore
}

// planMembers plans for a cluster that is neither deleted nor being restored, and whose status is known.
func (r *reconciler) planMembers(c *etcdv1beta2.EtcdCluster, f facts, d decision) kit.Plan {
	p := planner{f, c, d}
	plan := kit.Plan{Again: p.again(), Waits: d.next.Waits}
	plan.Children = p.children()
	plan.Prune = []client.ObjectList{&corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &policyv1.PodDisruptionBudgetList{}}
	plan.Stays = p.keeps()
	for _, m := range d.establish {
		plan.Patches = append(plan.Patches, build.Establish(m, f.lineage(c, d.members).MayShow(m)))
	}
	plan.Patches = append(plan.Patches, p.hideFormer()...)
	for _, m := range d.show {
		plan.Independent = append(plan.Independent, build.Establish(m, f.lineage(c, d.members).MayShow(m)))
	}
	plan.Independent = slices.Concat(plan.Independent, build.Repairs(c, d.members), p.resizeVolumes())
	if d.next.Change != nil {
		plan.Patches = append(plan.Patches, build.ChangeVersion(c, *d.next.Change, d.next.Version))
	}
	switch {
	case d.next.Resize != nil && d.next.Resize.ResizeDue:
		plan.Patches = append(plan.Patches, build.NoteResources(c, *d.next.Resize))
	case d.next.Resize != nil:
		plan.Step = &kit.Step{Name: "resize member " + d.next.Resize.Name, Do: func(ctx context.Context) error { return r.taker().Resize(ctx, c, *d.next.Resize) }}
	}
	if d.next.Step != nil && len(d.establish) == 0 && f.refused.Wait(f.now) == 0 {
		plan.Step = &kit.Step{Name: d.next.Step.Name, Why: d.next.Step.Note, Do: func(ctx context.Context) error { return r.taker().Take(ctx, c, d.next.Step, f.view) }}
		if d.next.Step.Reason != "" {
			plan.Events = []kit.Event{{Reason: d.next.Step.Reason, Action: "Change", Note: d.next.Step.Note}}
		}
	}
	return plan
}

// builder returns the Builder that declares pods and claims.
func (f facts) builder(c *etcdv1beta2.EtcdCluster) build.Builder {
	return build.Builder{Cluster: c, AgentImage: f.agentImage, BackupImage: f.backupImage, FirstMembers: f.formation(c).First(), FormerServes: f.lineage(c, nil).FormerServes()}
}

// children returns the objects that should exist now.
func (p planner) children() []ensure.Child {
	c, d := p.c, p.d
	var out []ensure.Child
	declare := func(objects ...runtime.ApplyConfiguration) {
		for _, object := range objects {
			out = append(out, ensure.Child{Object: object})
		}
	}
	declare(build.NetworkPolicy(c, p.operator), build.PeerService(c), build.Connection(c))
	if !p.hides() {
		declare(build.ClientService(c))
	}
	// Before the members have been read, the budget stays unchanged: the status may list fewer voters than there are.
	if p.fresh(c) && max(d.voters(), c.Spec.Size) > 1 {
		declare(build.DisruptionBudget(c, d.members))
	}
	for _, m := range d.members {
		if model.Persistent(c) && !d.dropClaim[m.Name] && (m.Claim != nil || p.mayBegin(m)) {
			out = append(out, ensure.Child{Object: p.builder(c).Claim(m), Once: true})
		}
		if p.wantsPod(m) {
			out = append(out, ensure.Child{Object: p.builder(c).Pod(m, d.members, p.versionFor()), Once: true})
		}
	}
	return out
}

// hides reports whether some voter's pod lacks the voter label. Writing the client Service, which selects by that
// label, would then hide the voter from clients, so the Service stays unchanged until the pod has the label.
func (p planner) hides() bool {
	c, d := p.c, p.d
	return c.Status.ClusterID != "" && slices.ContainsFunc(d.members, func(m model.Member) bool { return m.Voter() && m.Pod != nil && !m.Shown() })
}

// opcrew watches Secrets with the label opcrew.io/watch. It reads other Secrets again after these times: the shorter
// one applies while there is a problem.
const (
	secretSoon     = 15 * time.Second
	secretInterval = time.Hour
)

// again returns the time until the next reconcile if no event starts one earlier.
func (p planner) again() time.Duration {
	c, d := p.c, p.d
	var soonest time.Duration
	if p.unfit != nil || d.next.Step != nil || d.next.Change != nil || d.next.Resize != nil || d.next.Waits != "" || len(d.establish)+len(d.show) > 0 {
		soonest = underWay
	}
	// A lost node that may still run old pods needs no scheduled reconcile, because a change of the node starts one.
	if p.stray() != "" || p.strayClaim() || p.lineage(c, nil).FormerServes() && p.lineage(c, nil).FormerDecide() == "" {
		soonest = strayWait
	}
	for _, wait := range []time.Duration{p.refused.Wait(p.now), p.unbound.Again, p.unsafeAgain, p.volumes.Again(underWay), p.givenUpIn(), p.formation(c).NextLook(), p.certificatesIn(), p.backupsIn(), upkeep.NextLook(p.upkeepInput(c, d.members), underWay), workload.StuckIn(p.strays(), p.now)} {
		if wait > 0 && (soonest == 0 || wait < soonest) {
			soonest = wait
		}
	}
	return soonest
}

// certificatesIn returns the time until the certificates are read again: some seconds while there is a problem with
// them, and otherwise an hour, as they may expire. It returns 0 if the cluster has no certificates.
func (p planner) certificatesIn() time.Duration {
	c := p.c
	switch {
	case len(certificates.Bundles(c)) == 0:
		return 0
	case p.tls != nil:
		return secretSoon
	}
	return secretInterval
}

// backupsIn returns the time until the EtcdBackups are read again; 0 unless a recovery waits for a backup.
func (p planner) backupsIn() time.Duration {
	c, d := p.c, p.d
	if p.recoveryInput(c, d.members).AwaitsBackup(d.recovery) {
		return secretSoon
	}
	return 0
}
