// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// world is a cluster as the operator sees it.
type world struct {
	facts
	c *etcdv1beta2.EtcdCluster
}

// observed is a cluster whose members 0 to n-1 are all well, member 0 leading. It was made
// for what c asks now.
func observed(c *etcdv1beta2.EtcdCluster, n int64) world {
	w := world{c: c, facts: facts{
		now: noon, helperImage: "opcrew-helper:test", nodesKnown: true,
		pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{}, nodes: map[string]node{},
		view: etcd.View{At: noon, ClusterID: 0xc1, Status: map[uint64]etcd.MemberStatus{}, ClusterVersion: minorOf(c.Status.CurrentVersion) + ".0"},
	}}
	for serial := range n {
		w = w.with(serial, false)
	}
	return w
}

// id is that of the member of a number in a cluster that was formed long ago.
func id(serial int64) uint64 { return uint64(0x100 + serial) }

// id is that of the member of a number.
func (w world) id(serial int64) uint64 {
	if w.c.Status.ClusterID == "" {
		return bootstrapID(w.c, memberName(w.c, serial))
	}
	return id(serial)
}

// with adds a member that is well.
func (w world) with(serial int64, learner bool) world {
	name := memberName(w.c, serial)
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = node{}
	w.view.Members = append(w.view.Members, etcd.Member{ID: w.id(serial), Name: name, PeerURLs: []string{w.c.PeerURL(name)}, ClientURLs: []string{w.c.ClientURL(name)}, Learner: learner})
	w.view.Status[w.id(serial)] = etcd.MemberStatus{ID: w.id(serial), Version: w.c.Status.CurrentVersion, Leader: w.id(0), Learner: learner}
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace, pod.UID = name, w.c.Namespace, "pod"
	pod.Spec.NodeName = "node-" + strconv.FormatInt(serial, 10)
	pod.Labels = fixedLabels(w.c, member{name: name})
	if !learner {
		pod.Labels[voterLabel] = isVoter
	}
	pod.Annotations = map[string]string{
		startAnnotation: startOf(etcdstart.Established, w.id(serial)), serialAnnotation: strconv.FormatInt(serial, 10),
		etcdv1beta2.VersionAnnotation: w.c.Status.CurrentVersion, wishesAnnotation: wishes(w.c),
	}
	if w.c.Spec.Pod != nil {
		pod.Annotations[resourcesAnnotation] = encoded(w.c.Spec.Pod.Resources)
		pod.Spec.Containers = []corev1.Container{{Name: "sidecar"}, {Name: container, Resources: complete(w.c.Spec.Pod.Resources)}}
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container, Ready: true, State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Hour))},
	}}}
	w.pods[name] = pod
	if persistent(w.c) {
		claim := &corev1.PersistentVolumeClaim{}
		claim.Name, claim.Namespace = name, w.c.Namespace
		claim.Spec = *w.c.Spec.Pod.PersistentVolumeClaimSpec.DeepCopy()
		claim.Spec.VolumeName, claim.Status.Phase, claim.Status.Capacity = "pv-"+name, corev1.ClaimBound, claim.Spec.Resources.Requests
		w.claims[name] = claim
	}
	if w.c.Status.ClusterID == "" {
		w.begins(name, serial)
	}
	return w
}

// begins has a member be one of the first, of a cluster that is not formed yet.
func (w world) begins(name string, serial int64) {
	w.pods[name].Annotations[startAnnotation] = startOf(etcdstart.Bootstrap, w.id(serial))
	w.pods[name].Annotations[firstAnnotation] = strconv.Itoa(int(w.c.Spec.Size))
	if claim := w.claims[name]; claim != nil {
		claim.Annotations = map[string]string{firstAnnotation: strconv.Itoa(int(w.c.Spec.Size))}
	}
}

// joining adds a member that was added and has not run yet; with or without a pod.
func (w world) joining(serial int64, pod bool) world {
	w = w.with(serial, true)
	name, last := memberName(w.c, serial), len(w.view.Members)-1
	w.view.Members[last].Name, w.view.Members[last].ClientURLs = "", nil
	w.view.Status[w.id(serial)] = etcd.MemberStatus{Err: fmt.Errorf("connection refused")}
	w.pods[name].Annotations[startAnnotation] = startOf(etcdstart.Join, w.id(serial))
	w.pods[name].Status = corev1.PodStatus{}
	if !pod {
		delete(w.pods, name)
		delete(w.claims, name)
	}
	return w
}

// aloof has a member not answer whose pod has been ready for some time.
func (w world) aloof(serial int64, since time.Duration) world {
	w.view.Status[w.id(serial)] = etcd.MemberStatus{Err: fmt.Errorf("error reading server preface")}
	w.pods[memberName(w.c, serial)].Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(-since))
	return w
}

// asks is the world after an edit of the spec.
func (w world) asks(options ...option) world {
	w.c = w.c.DeepCopy()
	for _, o := range options {
		o(w.c)
	}
	return w
}

// down has members not answer; their pods are as they were.
func (w world) down(serials ...int64) world {
	for _, serial := range serials {
		w.view.Status[w.id(serial)] = etcd.MemberStatus{Err: fmt.Errorf("connection refused")}
		if pod := w.pods[memberName(w.c, serial)]; pod != nil {
			pod.Status.Conditions, pod.Status.ContainerStatuses[0].Ready = nil, false
		}
	}
	if w.view.HealthyVoters() < w.view.Quorum() {
		w.view.Err = fmt.Errorf("context deadline exceeded")
		for _, m := range w.view.Members {
			if len(w.c.Status.Membership) == len(w.view.Members) {
				break
			}
			w.c.Status.Membership = append(w.c.Status.Membership, etcdv1beta2.MemberIdentity{ID: fmt.Sprintf("%016x", m.ID), Name: nameOf(m.PeerURLs[0]), Learner: m.Learner})
		}
	}
	return w
}

// unprobed has a member be well whose kubelet does not say so yet.
func (w world) unprobed(serial int64) world {
	pod := w.pods[memberName(w.c, serial)]
	pod.Status.Conditions, pod.Status.ContainerStatuses[0].Ready = nil, false
	return w
}

// hidden has a member not be shown to clients yet.
func (w world) hidden(serial int64) world {
	delete(w.pods[memberName(w.c, serial)].Labels, voterLabel)
	return w
}

// without has pods gone.
func (w world) without(serials ...int64) world {
	for _, serial := range serials {
		delete(w.pods, memberName(w.c, serial))
	}
	return w.down(serials...)
}

// unclaimed has claims gone.
func (w world) unclaimed(serials ...int64) world {
	for _, serial := range serials {
		delete(w.claims, memberName(w.c, serial))
	}
	return w
}

// refused has the gate in a pod refuse to start etcd.
func (w world) refused(serial int64, reason etcdstart.Reason) world {
	return w.said(serial, reason, "no log in /var/etcd/data")
}

// said has a member's etcd not run, for what the gate has said.
func (w world) said(serial int64, reason etcdstart.Reason, words string) world {
	w = w.down(serial)
	w.pods[memberName(w.c, serial)].Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: container, RestartCount: 1,
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: `{"reason":"` + string(reason) + `","message":"` + words + `"}`}},
	}}
	return w
}

// onceRefused has members run whose containers before this one the gate had refused, as with a volume that was mounted late.
func (w world) onceRefused(serials ...int64) world {
	for _, serial := range serials {
		status := &w.pods[memberName(w.c, serial)].Status.ContainerStatuses[0]
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Message: `{"reason":"VolumeLost","message":"no log in /var/etcd/data"}`}
	}
	return w
}

// unpulled has members whose image cannot be pulled.
func (w world) unpulled(serials ...int64) world {
	w = w.down(serials...)
	for _, serial := range serials {
		w.pods[memberName(w.c, serial)].Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}},
		}}
	}
	return w
}

// running has a member run another version than its pod's, or both.
func (w world) running(serial int64, version, annotation string) world {
	status := w.view.Status[w.id(serial)]
	status.Version = version
	w.view.Status[w.id(serial)] = status
	w.pods[memberName(w.c, serial)].Annotations[etcdv1beta2.VersionAnnotation] = annotation
	return w
}

// applied has members have carried out their logs up to an index each, and the first know of all.
func (w world) applied(indexes ...uint64) world {
	for serial, index := range indexes {
		status := w.view.Status[w.id(int64(serial))]
		status.Applied, status.RaftIndex = index, index
		w.view.Status[w.id(int64(serial))] = status
	}
	return w
}

// speaking has the members have agreed on a version, or, if it is "", not have told.
func (w world) speaking(version string) world {
	w.view.ClusterVersion = version
	return w
}

// mute has no one tell it, and why.
func (w world) mute(why string) world {
	w.view.VersionErr = errors.New(why)
	return w
}

// silent has a node not been heard of for a while.
func (w world) silent(serial int64, since time.Duration) world {
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = node{silentSince: noon.Add(-since)}
	return w
}

// serverless has nodes be deleted.
func (w world) serverless(serials ...int64) world {
	for _, serial := range serials {
		delete(w.nodes, "node-"+strconv.FormatInt(serial, 10))
	}
	return w.down(serials...)
}

// unplaced has the pod of a member have been recreated, and not find a place for a while: its volume is on the
// disk of a node that is as told, or gone.
func (w world) unplaced(serial int64, since time.Duration, home *node) world {
	w = w.down(serial)
	pod := w.pods[memberName(w.c, serial)].DeepCopy()
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/1 nodes are available", LastTransitionTime: metav1.NewTime(noon.Add(-since)),
	}}
	host := "node-" + strconv.FormatInt(serial, 10)
	if w.homes == nil {
		w.homes, w.hosts = map[string][]string{}, map[string]node{}
	}
	w.pods[pod.Name], w.homes[pod.Name] = pod, []string{host}
	if home != nil {
		w.hosts[host] = *home
	}
	return w
}

// says sums a decision up in words.
func (d decision) says() string {
	switch {
	case d.step != nil:
		return d.step.name
	case d.resize != nil && d.resize.renotes:
		return "note for " + d.resize.name
	case d.resize != nil:
		return "resize " + d.resize.name
	case d.change != nil:
		return "change " + d.change.name + " to " + d.version
	case len(d.drop) > 0:
		for name := range d.drop {
			return "make " + name + " anew"
		}
	case len(d.establish) > 0:
		return fmt.Sprintf("establish %d", len(d.establish))
	case len(d.show) > 0:
		return fmt.Sprintf("show %d to clients", len(d.show))
	case d.waits != "":
		return "wait for " + d.waits
	}
	return "nothing"
}

func leads(w world, serial int64) world {
	for key, status := range w.view.Status {
		status.Leader, status.RaftTerm = id(serial), 9
		w.view.Status[key] = status
	}
	return w
}

func unseen(w world) world {
	w.view = etcd.View{}
	return w
}

func stale(w world) world {
	w.view.Stale = true
	return w
}
