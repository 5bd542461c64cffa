// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
)

// lineage is which data a pod or claim is of: the cluster's as it is, as it was before a restore, or
// that of a restore which is not done or was called off.
//
// Its name tells, which no one can change: each is made of a number that no other ever has, and a
// restore begins with one that is higher than all before.
type lineage int

const (
	ofCluster lineage = iota
	ofFormer
	ofSeed
)

func lineageOf(c *etcdv1beta2.EtcdCluster, name string) lineage {
	at := c.Status.Restore
	if at == nil {
		return ofCluster
	}
	serial := serialOf(serialsBelow(c, max(at.Serial, c.Status.Serial)+ahead), name)
	switch {
	case serial < 0:
		return ofCluster
	case serial < at.Began(): // also while another restore goes on, and when that is called off
		return ofFormer
	case at.Phase != etcdv1beta2.PhaseRestored && serial == at.Serial:
		return ofSeed
	}
	return ofCluster
}

// others are the pods and claims of other lineages than the cluster's. They are no members, and never
// looked at as such.
type others struct {
	pods   []*corev1.Pod
	claims []*corev1.PersistentVolumeClaim
}

// seeds reports whether something of a restore is there that was called off.
func (o others) seeds(c *etcdv1beta2.EtcdCluster) bool {
	of := func(object client.Object) bool { return lineageOf(c, object.GetName()) == ofSeed }
	return slices.ContainsFunc(o.pods, func(p *corev1.Pod) bool { return of(p) }) ||
		slices.ContainsFunc(o.claims, func(p *corev1.PersistentVolumeClaim) bool { return of(p) })
}

// live reports whether a pod of another lineage is there that no one has deleted.
func (o others) live() bool {
	return slices.ContainsFunc(o.pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil })
}

// formerServes reports whether a pod from before a restore may still have clients: then no one is led to a
// member of this lineage, or some would write here and some there. One that was deleted does until it is
// gone or its grace has passed, and then, too, if it may still decide with others.
func (f facts) formerServes(c *etcdv1beta2.EtcdCluster) bool {
	return slices.ContainsFunc(f.others.pods, func(pod *corev1.Pod) bool {
		return pod.Labels[voterLabel] == isVoter && !f.graceIsOver(pod) && !ended(pod)
	}) || f.formerDecide(c) != ""
}

// graceIsOver reports a pod whether its kubelet, if it heard of the deletion, has ended it by now.
func (f facts) graceIsOver(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && !f.now.Before(pod.DeletionTimestamp.Time)
}

// formerDecide names the pods from before that no one has seen end, if they are enough to decide without all others.
func (f facts) formerDecide(c *etcdv1beta2.EtcdCluster) string {
	if c.Status.Restore == nil {
		return ""
	}
	return f.mayDecide(c.Status.Restore.FormerVoters, f.others.pods, func(pod *corev1.Pod) bool {
		return lineageOf(c, pod.Name) == ofFormer && f.graceIsOver(pod)
	})
}

// cutOff names the pods on silent nodes that a restore is about to replace, if they are enough to decide without all
// others: they may serve clients where no one hears of it.
func (f facts) cutOff(c *etcdv1beta2.EtcdCluster) string {
	pods := slices.SortedFunc(maps.Values(f.pods), func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return f.mayDecide(votersOf(c.Status.Membership), pods, func(pod *corev1.Pod) bool {
		return !f.nodes[pod.Spec.NodeName].silentSince.IsZero()
	})
}

// mayDecide says why some pods may still run, and what shows that they do not, if they are a majority of the voters;
// it is empty if they are too few. What such members acknowledge would be thrown away.
func (f facts) mayDecide(voters int32, pods []*corev1.Pod, some func(*corev1.Pod) bool) string {
	var doubts []string
	for _, pod := range pods {
		if doubt := f.mayRun(member{pod: pod}); doubt != "" && some(pod) {
			doubts = append(doubts, pod.Name+": "+doubt)
		}
	}
	if voters == 0 || int32(len(doubts)) < voters/2+1 {
		return ""
	}
	return strings.Join(doubts, "; ")
}

// votersOf is how many of them vote.
func votersOf(membership []etcdv1beta2.MemberIdentity) int32 {
	n := int32(0)
	for _, m := range membership {
		if !m.Learner {
			n++
		}
	}
	return n
}

// isGoingOver reports whether a restored member serves, and clients are not led to it yet.
func (f facts) isGoingOver(c *etcdv1beta2.EtcdCluster, d decision) bool {
	return f.formerServes(c) || c.Status.Lineage != "" && f.view.Err == nil && !slices.ContainsFunc(d.members, member.shown)
}

// mayShow reports whether clients may be led to a member.
func (f facts) mayShow(c *etcdv1beta2.EtcdCluster, m member) bool {
	return m.voter() && !f.formerServes(c)
}

// leftovers reports whether something of an earlier restore has to go before another lineage begins.
func (f facts) leftovers(c *etcdv1beta2.EtcdCluster) bool {
	return f.others.live() || f.others.seeds(c) || f.formerServes(c)
}

func (o others) pod(name string) *corev1.Pod {
	i := slices.IndexFunc(o.pods, func(pod *corev1.Pod) bool { return pod.Name == name })
	if i < 0 {
		return nil
	}
	return o.pods[i]
}

func (o others) claim(name string) *corev1.PersistentVolumeClaim {
	i := slices.IndexFunc(o.claims, func(claim *corev1.PersistentVolumeClaim) bool { return claim.Name == name })
	if i < 0 {
		return nil
	}
	return o.claims[i]
}

// isPast reports a pod or claim whether the status says that its lineage is over. A process whose
// status is an old one knows of no other lineage, and leaves what is of one alone.
func (f facts) isPast(c *etcdv1beta2.EtcdCluster, d decision, object client.Object) bool {
	switch lineageOf(c, object.GetName()) {
	case ofSeed:
		return c.Status.Restore.Phase == etcdv1beta2.PhaseAbandoned
	case ofFormer:
		switch _, isPod := object.(*corev1.Pod); {
		case isPod && isLastCopy(c, object.GetName()):
			return f.settled(c, d)
		case isPod:
			return true
		}
		return f.whole(c, d) // the data stays until all members have the new
	default:
		return false
	}
}

// isLastCopy reports a pod from before whether no one but the seed has what is in it: that of the member which a recovery
// went on from, without a claim. Its cluster has no quorum, so that it serves no one.
func isLastCopy(c *etcdv1beta2.EtcdCluster, name string) bool {
	plan := c.Status.Restore.Recovery
	return plan != nil && plan.Member == name && !persistent(c)
}

// hideFormer keeps clients from pods from before that stay for a while.
func (f facts) hideFormer(c *etcdv1beta2.EtcdCluster, d decision) []kit.Patch {
	var out []kit.Patch
	for _, pod := range f.others.pods {
		if lineageOf(c, pod.Name) != ofFormer || pod.Labels[voterLabel] != isVoter || pod.DeletionTimestamp != nil || f.patched[pod.Name] || f.isPast(c, d, pod) {
			continue
		}
		change := podChange{pod: pod, intent: "former"}
		change.label(voterLabel, isFormer)
		out = append(out, change.patch())
	}
	return out
}

// settled reports whether as many voters are well as decide at the size that is asked for. Waiting for all might be in
// vain: a pod from before may have the node that the last one needs.
func (f facts) settled(c *etcdv1beta2.EtcdCluster, d decision) bool {
	well := int32(0)
	for _, m := range d.members {
		if m.voter() && m.ready() {
			well++
		}
	}
	return f.fresh(c) && well > c.Spec.Size/2
}

// whole reports whether there are as many members as asked for, all of them well.
func (f facts) whole(c *etcdv1beta2.EtcdCluster, d decision) bool {
	return f.fresh(c) && int32(len(d.members)) >= c.Spec.Size &&
		!slices.ContainsFunc(d.members, func(m member) bool { return !m.ready() || m.learner })
}
