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
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/workload"
)

// Plan declares the children, and at most one change of the membership. Deletion needs no
// plan: all children are collected with their owner, their data too, as the contract has it.
func (r *reconciler) Plan(c *etcdv1beta2.EtcdCluster, f facts, _ time.Time) kit.Plan {
	plan := r.plan(c, f)
	if c.Spec.Paused {
		plan.PausedBy = "spec.paused"
	}
	return plan
}

func (r *reconciler) plan(c *etcdv1beta2.EtcdCluster, f facts) kit.Plan {
	switch {
	case c.DeletionTimestamp != nil:
		return kit.Plan{}
	case f.behind:
		return kit.Plan{Again: time.Second}
	case f.orphan(c) != "":
		return kit.Plan{Again: underWay}
	case f.takesUp(c): // the status says so first
		return kit.Plan{}
	case restoring(c):
		return f.planRestore(c)
	}
	return r.planMembers(c, f)
}

// planMembers is for a cluster that is neither deleted nor restored, and whose status is known.
func (r *reconciler) planMembers(c *etcdv1beta2.EtcdCluster, f facts) kit.Plan {
	d := f.decide(c)
	plan := kit.Plan{Again: f.again(c, d)}
	plan.Children = f.children(c, d)
	plan.Prune = []client.ObjectList{&corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &policyv1.PodDisruptionBudgetList{}}
	plan.Stays = f.stays(c, d)
	for _, m := range d.establish {
		plan.Patches = append(plan.Patches, establishPatch(m, f.mayShow(c, m)))
	}
	plan.Patches = append(plan.Patches, f.hideFormer(c, d)...)
	for _, m := range d.show {
		plan.Aside = append(plan.Aside, establishPatch(m, f.mayShow(c, m)))
	}
	plan.Aside = slices.Concat(plan.Aside, remarks(c, d.members), f.resizeVolumes())
	if d.change != nil {
		plan.Patches = append(plan.Patches, versionPatch(c, *d.change, d.version))
	}
	switch {
	case d.resize != nil && d.resize.renotes:
		plan.Patches = append(plan.Patches, notePatch(c, *d.resize))
	case d.resize != nil:
		plan.Step = &kit.Step{Name: "resize member " + d.resize.name, Do: func(ctx context.Context) error { return r.takeResize(ctx, c, *d.resize) }}
	}
	if d.step != nil && len(d.establish) == 0 && f.retriesIn() == 0 {
		plan.Step = &kit.Step{Name: d.step.name, Do: func(ctx context.Context) error { return r.take(ctx, c, d.step, f.view) }}
		if d.step.reason != "" {
			plan.Events = []kit.Event{{Reason: d.step.reason, Action: "Change", Note: d.step.note}}
		}
	}
	return plan
}

// children are those that there are to be now.
func (f facts) children(c *etcdv1beta2.EtcdCluster, d decision) []ensure.Child {
	var out []ensure.Child
	declare := func(objects ...runtime.ApplyConfiguration) {
		for _, object := range objects {
			out = append(out, ensure.Child{Object: object})
		}
	}
	declare(peerService(c), connection(c))
	if !f.hides(c, d) {
		declare(forClients(c))
	}
	// Until the members were looked at it stays as it is: the status may know of fewer voters.
	if f.fresh(c) && max(d.voters(), c.Spec.Size) > 1 {
		declare(disruptionBudget(c, d))
	}
	for _, m := range d.members {
		if persistent(c) && !d.dropClaim[m.name] && (m.claim != nil || f.mayBegin(c, d, m)) {
			out = append(out, ensure.Child{Object: f.claim(c, m), Once: true})
		}
		if f.wantsPod(c, d, m) {
			out = append(out, ensure.Child{Object: f.pod(c, m, d.members, f.versionFor(c, d)), Once: true})
		}
	}
	return out
}

// hides reports whether the Service for clients, as it is declared, would lead past a voter that they
// are to reach. Until its pod is labelled the Service stays as it is.
func (f facts) hides(c *etcdv1beta2.EtcdCluster, d decision) bool {
	return c.Status.ClusterID != "" && slices.ContainsFunc(d.members, func(m member) bool { return m.voter() && m.pod != nil && !m.shown() })
}

// mayBegin reports whether a member that has neither pod nor claim may be given them: before the
// cluster was formed, or when it was added and has never run.
func (f facts) mayBegin(c *etcdv1beta2.EtcdCluster, d decision, m member) bool {
	if c.Status.ClusterID == "" {
		return d.invalid == nil
	}
	return !m.started && m.lost == ""
}

// wantsPod reports whether a member is to have a pod now. That of a lost one stays until the
// cluster has taken it out, and is not recreated.
func (f facts) wantsPod(c *etcdv1beta2.EtcdCluster, d decision, m member) bool {
	switch {
	case d.drop[m.name], asleep(c):
		return false
	case m.pod != nil && m.pod.DeletionTimestamp != nil: // it stays as it is, and holds up nothing
		return false
	case m.pod != nil:
		return true
	case m.serial < 0 || m.lost != "":
		return false
	}
	return f.mayBegin(c, d, m) || m.started && m.claim != nil
}

// versionFor is the version that a member's new pod is of. One that is recreated in the
// middle of an upgrade has the newer one only if others run it already.
func (f facts) versionFor(c *etcdv1beta2.EtcdCluster, d decision) string {
	if c.Status.ClusterID == "" {
		return wanted(c)
	}
	if d.target != "" || d.invalid != nil {
		if low := f.lowest(c, &d); low != "" {
			return low
		}
	}
	return wanted(c)
}

// underWay passes at most until a cluster that is being changed, or is not well, is looked at
// again. It is only a net: the prober wakes the loop.
const underWay = 5 * time.Second

// strayWait passes until a pod or claim that is no member's is looked at again. Its age, which is known in
// seconds, reports whether the members were looked at since.
const strayWait = time.Second

// Secrets of users are followed when they carry opcrew.io/watch, and read again after a while
// when they do not.
const (
	secretSoon     = 15 * time.Second
	secretInterval = time.Hour
)

// again is when to look again by itself.
func (f facts) again(c *etcdv1beta2.EtcdCluster, d decision) time.Duration {
	var soonest time.Duration
	if f.unfit != nil || d.step != nil || d.change != nil || d.resize != nil || d.waits != "" || len(d.establish)+len(d.show) > 0 {
		soonest = underWay
	}
	if f.stray(d) != "" || f.strayClaim(d) || f.formerServes(c) && f.formerDecide(c) == "" { // a node wakes the loop itself
		soonest = strayWait
	}
	for _, wait := range []time.Duration{f.retriesIn(), f.unbound.Again, f.volumes.Again(underWay), f.givenUpIn(c), f.formsIn(c), f.certificatesIn(c), f.backupsIn(c, d), f.upkeepIn(c), workload.StuckIn(f.strays(d), f.now)} {
		if wait > 0 && (soonest == 0 || wait < soonest) {
			soonest = wait
		}
	}
	return soonest
}

// certificatesIn is when the certificates of the user are read again: soon while something is
// wrong with them, and else hourly, as they may expire.
func (f facts) certificatesIn(c *etcdv1beta2.EtcdCluster) time.Duration {
	switch {
	case len(bundles(c)) == 0:
		return 0
	case f.tls != nil:
		return secretSoon
	}
	return secretInterval
}

// establishPatch takes from a pod the permission to start on an empty volume, and may show it to clients.
func establishPatch(m member, show bool) kit.Patch {
	to := startOf(etcdstart.Established, m.id)
	change := podChange{pod: m.pod, intent: to}
	if m.start() != to {
		change.annotate(startAnnotation, to)
	}
	if show {
		change.intent += " " + voterLabel
		change.label(voterLabel, isVoter)
	}
	return change.patch()
}

// versionPatch has a pod run another version, in place: the kubelet stops etcd and starts
// the other image on the same volume.
func versionPatch(c *etcdv1beta2.EtcdCluster, m member, version string) kit.Patch {
	change := podChange{pod: m.pod, intent: version}
	change.annotate(etcdv1beta2.VersionAnnotation, version)
	change.run(image(c, version))
	return change.patch()
}
