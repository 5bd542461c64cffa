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
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/build"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// world is a fake EtcdCluster in memory, with everything that opcrew reads about it.
type world struct {
	facts
	c *etcdv1beta2.EtcdCluster
}

// observed returns a cluster whose members 0 to n-1 are healthy. Member 0 is the leader, and all pods match the spec of
// c.
func observed(c *etcdv1beta2.EtcdCluster, n int64) world {
	w := world{c: c, facts: facts{
		now: clustertest.Noon, agentImage: "opcrew-agent:test",
		pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{}, nodes: map[string]model.Node{},
		view: etcd.View{At: clustertest.Noon, ClusterID: 0xc1, Status: map[uint64]etcd.MemberStatus{}, ClusterVersion: versions.MinorOf(c.Status.CurrentVersion) + ".0"},
	}}
	for serial := range n {
		w = w.with(serial, false)
	}
	return w
}

// id returns the ID of the member with a serial number, in a cluster that is already formed.
func id(serial int64) uint64 { return uint64(0x100 + serial) }

// id returns the ID of the member with a serial number.
func (w world) id(serial int64) uint64 {
	if w.c.Status.ClusterID == "" {
		return model.BootstrapID(w.c, model.MemberName(w.c, serial))
	}
	return id(serial)
}

// with adds a healthy member.
func (w world) with(serial int64, learner bool) world {
	name := model.MemberName(w.c, serial)
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = model.Node{}
	w.view.Members = append(w.view.Members, etcd.Member{ID: w.id(serial), Name: name, PeerURLs: []string{w.c.PeerURL(name)}, ClientURLs: []string{w.c.ClientURL(name)}, Learner: learner})
	w.view.Status[w.id(serial)] = etcd.MemberStatus{ID: w.id(serial), Version: w.c.Status.CurrentVersion, Leader: w.id(0), Learner: learner}
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace, pod.UID = name, w.c.Namespace, "pod"
	pod.Spec.NodeName = "node-" + strconv.FormatInt(serial, 10)
	pod.Labels = build.FixedLabels(w.c, model.Member{Name: name})
	if !learner {
		pod.Labels[model.VoterLabel] = model.IsVoter
	}
	pod.Annotations = map[string]string{
		model.StartAnnotation: model.StartAs(etcdstart.Established, w.id(serial)), model.SerialAnnotation: strconv.FormatInt(serial, 10),
		etcdv1beta2.VersionAnnotation: w.c.Status.CurrentVersion, model.SettingsAnnotation: settings.Hash(w.c),
	}
	if w.c.Spec.Pod != nil {
		pod.Annotations[settings.ResourcesAnnotation] = settings.EncodeJSON(w.c.Spec.Pod.Resources)
		pod.Spec.Containers = []corev1.Container{{Name: "sidecar"}, {Name: model.Container, Resources: settings.WithRequests(w.c.Spec.Pod.Resources)}}
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: model.Container, Ready: true, State: corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(clustertest.Noon.Add(-time.Hour))},
	}}}
	w.pods[name] = pod
	if model.Persistent(w.c) {
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

// begins makes a member one of the first members of a cluster that is not formed yet.
func (w world) begins(name string, serial int64) {
	w.pods[name].Annotations[model.StartAnnotation] = model.StartAs(etcdstart.Bootstrap, w.id(serial))
	w.pods[name].Annotations[model.FirstMembersAnnotation] = strconv.Itoa(int(w.c.Spec.Size))
	if claim := w.claims[name]; claim != nil {
		claim.Annotations = map[string]string{model.FirstMembersAnnotation: strconv.Itoa(int(w.c.Spec.Size))}
	}
}

// joining adds a member that has never run, with or without a pod.
func (w world) joining(serial int64, pod bool) world {
	w = w.with(serial, true)
	name, last := model.MemberName(w.c, serial), len(w.view.Members)-1
	w.view.Members[last].Name, w.view.Members[last].ClientURLs = "", nil
	w.view.Status[w.id(serial)] = etcd.MemberStatus{Err: fmt.Errorf("connection refused")}
	w.pods[name].Annotations[model.StartAnnotation] = model.StartAs(etcdstart.Join, w.id(serial))
	w.pods[name].Status = corev1.PodStatus{}
	if !pod {
		delete(w.pods, name)
		delete(w.claims, name)
	}
	return w
}

// aloof makes a member answer no requests although its pod has been ready for some time.
func (w world) aloof(serial int64, since time.Duration) world {
	w.view.Status[w.id(serial)] = etcd.MemberStatus{Err: fmt.Errorf("error reading server preface")}
	w.pods[model.MemberName(w.c, serial)].Status.Conditions[0].LastTransitionTime = metav1.NewTime(clustertest.Noon.Add(-since))
	return w
}

// asks changes the spec.
func (w world) asks(options ...clustertest.Option) world {
	w.c = w.c.DeepCopy()
	for _, o := range options {
		o(w.c)
	}
	return w
}

// down makes members answer no requests, while their pods run.
func (w world) down(serials ...int64) world {
	for _, serial := range serials {
		w.view.Status[w.id(serial)] = etcd.MemberStatus{Err: fmt.Errorf("connection refused")}
		if pod := w.pods[model.MemberName(w.c, serial)]; pod != nil {
			pod.Status.Conditions, pod.Status.ContainerStatuses[0].Ready = nil, false
		}
	}
	if w.view.HealthyVoters() < w.view.Quorum() {
		w.view.Err = fmt.Errorf("context deadline exceeded")
		for _, m := range w.view.Members {
			if len(w.c.Status.Membership) == len(w.view.Members) {
				break
			}
			w.c.Status.Membership = append(w.c.Status.Membership, etcdv1beta2.MemberIdentity{ID: fmt.Sprintf("%016x", m.ID), Name: model.NameInURL(m.PeerURLs[0]), Learner: m.Learner})
		}
	}
	return w
}

// unprobed makes a member healthy in etcd while its pod is not ready yet.
func (w world) unprobed(serial int64) world {
	pod := w.pods[model.MemberName(w.c, serial)]
	pod.Status.Conditions, pod.Status.ContainerStatuses[0].Ready = nil, false
	return w
}

// hidden removes the label by which the client Service selects a member's pod.
func (w world) hidden(serial int64) world {
	delete(w.pods[model.MemberName(w.c, serial)].Labels, model.VoterLabel)
	return w
}

// without removes the pods of members.
func (w world) without(serials ...int64) world {
	for _, serial := range serials {
		delete(w.pods, model.MemberName(w.c, serial))
	}
	return w.down(serials...)
}

// unclaimed removes the claims of members.
func (w world) unclaimed(serials ...int64) world {
	for _, serial := range serials {
		delete(w.claims, model.MemberName(w.c, serial))
	}
	return w
}

// refused makes opcrew's agent in a member's pod refuse to start etcd.
func (w world) refused(serial int64, reason etcdstart.Reason) world {
	return w.said(serial, reason, "no log in /var/etcd/data")
}

// said makes a member's etcd stop, with a reason that opcrew's agent in the pod reported.
func (w world) said(serial int64, reason etcdstart.Reason, words string) world {
	w = w.down(serial)
	w.pods[model.MemberName(w.c, serial)].Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: model.Container, RestartCount: 1,
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: `{"reason":"` + string(reason) + `","message":"` + words + `"}`}},
	}}
	return w
}

// onceRefused makes members run although opcrew's agent refused to start etcd in their previous containers, for example
// because the volume was mounted late.
func (w world) onceRefused(serials ...int64) world {
	for _, serial := range serials {
		status := &w.pods[model.MemberName(w.c, serial)].Status.ContainerStatuses[0]
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Message: `{"reason":"VolumeLost","message":"no log in /var/etcd/data"}`}
	}
	return w
}

// unpulled gives members an image that cannot be pulled.
func (w world) unpulled(serials ...int64) world {
	w = w.down(serials...)
	for _, serial := range serials {
		w.pods[model.MemberName(w.c, serial)].Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: model.Container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}},
		}}
	}
	return w
}

// running sets the version that a member runs, and the version in its pod's annotation.
func (w world) running(serial int64, version, annotation string) world {
	status := w.view.Status[w.id(serial)]
	status.Version = version
	w.view.Status[w.id(serial)] = status
	w.pods[model.MemberName(w.c, serial)].Annotations[etcdv1beta2.VersionAnnotation] = annotation
	return w
}

// applied sets, for each of the first members, the index up to which it has received and applied the log.
func (w world) applied(indexes ...uint64) world {
	for serial, index := range indexes {
		status := w.view.Status[w.id(int64(serial))]
		status.Applied, status.RaftIndex = index, index
		w.view.Status[w.id(int64(serial))] = status
	}
	return w
}

// speaking sets the cluster version that the members have agreed on; "" if it is unknown.
func (w world) speaking(version string) world {
	w.view.ClusterVersion = version
	return w
}

// mute makes the cluster version unreadable, with the given error.
func (w world) mute(why string) world {
	w.view.VersionErr = errors.New(why)
	return w
}

// silent makes the kubelet of a member's node stop reporting, some time ago.
func (w world) silent(serial int64, since time.Duration) world {
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = model.Node{SilentSince: clustertest.Noon.Add(-since)}
	return w
}

// cordoned makes a member's node unschedulable.
func (w world) cordoned(serial int64) world {
	w.nodes["node-"+strconv.FormatInt(serial, 10)] = model.Node{Cordoned: true}
	return w
}

// serverless deletes the Node objects on which members run.
func (w world) serverless(serials ...int64) world {
	for _, serial := range serials {
		delete(w.nodes, "node-"+strconv.FormatInt(serial, 10))
	}
	return w.down(serials...)
}

// unplaced recreates a member's pod, which has been unschedulable for some time. home is the node to which its volume
// is bound; nil if that node is gone.
func (w world) unplaced(serial int64, since time.Duration, home *model.Node) world {
	w = w.down(serial)
	pod := w.pods[model.MemberName(w.c, serial)].DeepCopy()
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/1 nodes are available", LastTransitionTime: metav1.NewTime(clustertest.Noon.Add(-since)),
	}}
	host := "node-" + strconv.FormatInt(serial, 10)
	if w.disks == nil {
		w.disks = map[string]model.Disk{}
	}
	w.pods[pod.Name] = pod
	w.disks[pod.Name] = model.Disk{Nodes: []string{host}, Gone: home == nil || home.OutOfService}
	return w
}

// says returns a summary of a decision, such as "wait for ...".
func (d decision) says() string {
	switch {
	case d.next.Step != nil:
		return d.next.Step.Name
	case d.next.Resize != nil && d.next.Resize.ResizeDue:
		return "note for " + d.next.Resize.Name
	case d.next.Resize != nil:
		return "resize " + d.next.Resize.Name
	case d.next.Change != nil:
		return "change " + d.next.Change.Name + " to " + d.next.Version
	case len(d.drop) > 0:
		for name := range d.drop {
			return "recreate " + name
		}
	case len(d.establish) > 0:
		return fmt.Sprintf("establish %d", len(d.establish))
	case len(d.show) > 0:
		return fmt.Sprintf("show %d to clients", len(d.show))
	case d.next.Waits != "":
		return "wait for " + d.next.Waits
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

// takesUp reports whether a restore or a recovery starts now.
func (w world) takesUp(c *etcdv1beta2.EtcdCluster) bool {
	return (&reconciler{}).Decide(c, w.facts, w.now).stage == beginning
}

func (w world) children(c *etcdv1beta2.EtcdCluster, d decision) []ensure.Child {
	return planner{w.facts, c, d}.children()
}

func (w world) keeps(c *etcdv1beta2.EtcdCluster, d decision) func(client.Object) bool {
	return planner{w.facts, c, d}.keeps()
}

func (w world) again(c *etcdv1beta2.EtcdCluster, d decision) time.Duration {
	return planner{w.facts, c, d}.again()
}

func (w world) wantsPod(c *etcdv1beta2.EtcdCluster, d decision, m model.Member) bool {
	return planner{w.facts, c, d}.wantsPod(m)
}

func (w world) versionFor(c *etcdv1beta2.EtcdCluster, d decision) string {
	return planner{w.facts, c, d}.versionFor()
}

func (w world) formedWith(c *etcdv1beta2.EtcdCluster) string {
	return reporter{w.facts, c, decision{}}.formedWith()
}
