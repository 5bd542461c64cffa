// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// Annotations and labels of members' pods and claims.
const (
	// startAnnotation is what the gate in the pod goes by: how the member may start, and with
	// which id. See internal/agents/etcdgate.
	startAnnotation = "etcd.opcrew.io/start"
	// serialAnnotation is the number that the member's name was made of.
	serialAnnotation = "etcd.opcrew.io/serial"
	// firstAnnotation is the number of members that a cluster was to begin with.
	firstAnnotation = "etcd.opcrew.io/first-members"
	// voterLabel is on the pods of members that serve clients: they vote in a cluster that was
	// formed. The Service for clients goes by it. isFormer is on those that have voted before a recovery.
	voterLabel, isVoter, isFormer = "etcd.opcrew.io/voter", "true", "former"
	// restoreAnnotation of a pod or claim is the UID of the EtcdRestore that it was made for.
	restoreAnnotation = "etcd.opcrew.io/restore"
	// wishesAnnotation is a hash of what the user asked for when the pod was made.
	wishesAnnotation = "etcd.opcrew.io/wishes"
)

// member is one that belongs to the cluster, or is about to, with all that is known of it.
type member struct {
	name string
	// client is where the operator and others reach it.
	client string
	serial int64
	id     uint64
	// seed: it begins with a backup, and is no member until the cluster goes over to it.
	seed    bool
	learner bool
	// started: it has told its name, so it has run at least once.
	started bool
	pod     *corev1.Pod
	// patched: what is known of the pod is from before our own last patch of it.
	patched bool
	// renotes: the pod differs from the spec in resources alone, and they can be changed while it runs.
	// resizes: that was noted, and is not carried out.
	renotes, resizes bool
	claim            *corev1.PersistentVolumeClaim
	// claimDiffers says in which field the claim is not what the spec asks for; "" where it is.
	claimDiffers string
	// answers: it has, whatever it says. healthy: it follows a leader too. version is what it runs.
	answers bool
	healthy bool
	version string
	// lost says why it can never come back as what it was; empty while it may.
	lost string
}

func (m member) voter() bool { return !m.learner }

// well: it is healthy, and cannot begin on an empty volume any more.
func (m member) well() bool {
	return m.healthy && m.pod != nil && !m.patched && m.start() == startOf(etcdstart.Established, m.id)
}

// ready: so does its pod say, too.
func (m member) ready() bool { return m.well() && workload.Ready(m.pod) }

// shown: clients are led to its pod.
func (m member) shown() bool { return m.pod != nil && m.pod.Labels[voterLabel] == isVoter }

// start is how the pod was allowed to start when it was last told.
func (m member) start() string {
	if m.pod == nil {
		return ""
	}
	return m.pod.Annotations[startAnnotation]
}

// members are those of the cluster, by their serial numbers: as etcd itself lists them, or,
// before the cluster was formed, those that it is to begin with.
func (f facts) members(c *etcdv1beta2.EtcdCluster) []member {
	var out []member
	for _, m := range f.identities(c) {
		m.pod, m.claim = f.pods[m.name], f.claims[m.name]
		status, asked := f.view.Status[m.id]
		m.patched, m.answers = f.patched[m.name], asked && status.Err == nil
		m.healthy, m.version = f.view.Healthy(m.id), status.Version
		m.client = c.ClientURL(m.name)
		m.renotes, m.resizes = renotes(c, m.pod), resizes(c, m.pod)
		m.claimDiffers = claimDiffers(c, m.claim)
		m.lost = f.lost(c, m)
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b member) int { return cmp.Or(cmp.Compare(a.serial, b.serial), cmp.Compare(a.name, b.name)) })
	return out
}

// identities says who belongs to the cluster.
func (f facts) identities(c *etcdv1beta2.EtcdCluster) []member {
	serials := f.serials(c)
	var out []member
	switch {
	case c.Status.ClusterID == "":
		n := f.first(c)
		for serial := range int64(n) {
			name := memberName(c, serial)
			out = append(out, member{name: name, serial: serial, id: bootstrapID(c, name), started: true})
		}
	case f.decides(c):
		for _, m := range f.view.Members {
			name := m.Name
			if len(m.PeerURLs) > 0 {
				name = nameOf(m.PeerURLs[0])
			}
			out = append(out, member{name: name, serial: serialOf(serials, name), id: m.ID, learner: m.Learner, started: m.Started()})
		}
	default:
		for _, m := range c.Status.Membership {
			id, _ := strconv.ParseUint(m.ID, 16, 64)
			out = append(out, member{name: m.Name, serial: serialOf(serials, m.Name), id: id, learner: m.Learner, started: true})
		}
	}
	return out
}

// first is the number of members that the cluster begins with. It stays what it was when
// the first of them was made: they all know each other from the start.
func (f facts) first(c *etcdv1beta2.EtcdCluster) int32 {
	if f.begunWith > 0 {
		return f.begunWith
	}
	said := ""
	name := memberName(c, 0) // there is one in every cluster
	if claim := f.claims[name]; claim != nil {
		said = claim.Annotations[firstAnnotation]
	}
	if pod := f.pods[name]; pod != nil {
		said = pod.Annotations[firstAnnotation]
	}
	if n, err := strconv.ParseInt(said, 10, 32); err == nil && n > 0 {
		return int32(n)
	}
	return c.Spec.Size
}

// bootstrapID is the id that etcd gives to a first member.
func bootstrapID(c *etcdv1beta2.EtcdCluster, name string) uint64 {
	return etcd.BootstrapID([]string{c.PeerURL(name)}, string(c.UID))
}

// has reports whether there is a member of a name.
func (d decision) has(name string) bool {
	return slices.ContainsFunc(d.members, func(m member) bool { return m.name == name })
}

// voters is how many members vote.
func (d decision) voters() int32 {
	var n int32
	for _, m := range d.members {
		if m.voter() {
			n++
		}
	}
	return n
}
