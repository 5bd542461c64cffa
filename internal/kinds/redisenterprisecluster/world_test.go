// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/access"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/tuning"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/trim"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/workload"
)

// scene is a cluster with simulated servers and everything that a reconciler reads about them.
type scene struct {
	*clustertest.Cluster
	facts
	procs map[string]*redis.NodeStatus
	// apart holds the servers that know no other server and that no other server knows.
	apart map[string]bool
	// deaf holds the servers that reach no other server, because their cluster bus is blocked.
	deaf map[string]bool
	// ghosts are entries in the node tables of all servers. They belong to servers that were lost or replaced.
	ghosts []redis.Peer
}

const persistentSpec = "persistentSpec: {enabled: true}"

// running returns a healthy cluster of n pods.
func running(n int, options ...func(*clustertest.Cluster)) *scene {
	count := int32(n)
	c := clustertest.New(append([]func(*clustertest.Cluster){func(c *clustertest.Cluster) { c.Spec.Nodes = &count }}, options...)...)
	c.Status.Nodes, c.Status.Shards = count, count
	c.Status.Conditions = []metav1.Condition{{Type: "Available", Status: "True", Reason: redisv1alpha1.ReasonAllSlotsServed}}
	s := &scene{Cluster: c, procs: map[string]*redis.NodeStatus{}, facts: facts{
		now: clustertest.Noon, images: from, seen: true,
		Members: workload.Members{Pods: map[string]*corev1.Pod{}, Set: &appsv1.StatefulSet{}},
	}}
	s.Set.Spec.Replicas = &count
	s.Set.Spec.Template.Spec.Containers = []corev1.Container{{Name: desired.HomeContainer, Image: "redis:7.0"}}
	s.volumes(desired.Persistent(c), "")
	s.Set.Status = appsv1.StatefulSetStatus{Replicas: count, UpdatedReplicas: count, UpdateRevision: "now"}
	s.password("secret", desired.Hash("secret"))
	for i := range n {
		s.addPod(i)
	}
	for i := range n {
		s.form(i, n)
	}
	s.tuned()
	return s
}

// volumes adds a claim template with a storage class to the StatefulSet, or removes it.
func (s *scene) volumes(persistent bool, class string) {
	s.Set.Spec.VolumeClaimTemplates = nil
	if !persistent {
		return
	}
	claim := corev1.PersistentVolumeClaim{}
	claim.Name = desired.DataVolume
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")}
	if class != "" {
		claim.Spec.StorageClassName = &class
	}
	s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{claim}
}

// password sets the users' password and the hashes of the passwords that servers accept.
func (s *scene) password(password string, accepted ...string) {
	s.credentials.Users = &corev1.Secret{Data: map[string][]byte{"username": []byte("demo@redislabs.com"), "password": []byte(password)}}
	s.credentials.System = &corev1.Secret{Data: map[string][]byte{"password": []byte("inner"), "accepted": []byte(strings.Join(accepted, "\n"))}}
}

// tuned records that all servers have their settings.
func (s *scene) tuned() {
	s.known.Tuned = map[string]string{}
	for _, p := range s.procs {
		s.known.Tuned[p.RunID] = tuning.For(s.Cluster, s.credentials).Generation
	}
	s.known.TunedSince = clustertest.Noon
}

func (s *scene) addPod(i int) {
	pod := &corev1.Pod{}
	pod.Name, pod.UID = fmt.Sprintf("example-%d", i), "p"
	pod.CreationTimestamp = metav1.NewTime(clustertest.Noon.Add(-time.Hour))
	pod.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: "now"}
	pod.Spec.NodeName, pod.Status.PodIP, pod.Status.Phase = "node", fmt.Sprintf("10.0.0.%d", i+1), corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, name := range []string{desired.HomeContainer, desired.GuestContainer} {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: "redis:7.0"})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
	_, _ = trim.Object(pod) // the operator's cache removes the same parts of pods
	s.Pods[pod.Name] = pod
	for _, name := range []string{"h", "g"} {
		id := fmt.Sprintf("%s%d", name, i)
		s.procs[id] = &redis.NodeStatus{ID: id, RunID: "run-" + id, Role: redis.Primary, ClusterOK: true, Version: redis.Version{Number: "7.0.15"}}
	}
}

// form makes the home server of pod i (named h<i>) the primary of shard i, and the guest server of the next pod (named
// g<i+1>) the replica of shard i.
func (s *scene) form(i, n int) {
	home, guest := s.procs[fmt.Sprintf("h%d", i)], s.procs[fmt.Sprintf("g%d", (i+1)%n)]
	home.Slots = redis.Slots{{First: (i*redis.SlotCount + n/2) / n, Last: ((i+1)*redis.SlotCount+n/2)/n - 1}}
	guest.Role, guest.PrimaryID, guest.LinkUp = redis.Replica, home.ID, true
}

// swap makes a replica the primary of its shard, and the primary its replica.
func (s *scene) swap(replica, primary string) {
	r, p := s.procs[replica], s.procs[primary]
	r.Role, r.PrimaryID, r.Slots = redis.Primary, "", p.Slots
	p.Role, p.PrimaryID, p.Slots, p.LinkUp = redis.Replica, r.ID, nil, true
}

// epoch sets the election epoch of all servers.
func (s *scene) epoch(n uint64) {
	for _, p := range s.procs {
		p.CurrentEpoch = n
	}
}

func (s *scene) pod(i int) *corev1.Pod { return s.Pods[fmt.Sprintf("example-%d", i)] }

// crash makes the containers of the given pods crash repeatedly.
func (s *scene) crash(pods ...int) {
	for _, i := range pods {
		s.silence(i)
		for n := range s.pod(i).Status.ContainerStatuses {
			s.pod(i).Status.ContainerStatuses[n].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		}
	}
}

// silence makes the servers of the given pods stop answering.
func (s *scene) silence(pods ...int) {
	for _, i := range pods {
		delete(s.procs, fmt.Sprintf("h%d", i))
		delete(s.procs, fmt.Sprintf("g%d", i))
		s.pod(i).Status.Conditions = nil
	}
}

// changed makes the given pods outdated.
func (s *scene) changed(pods ...int) *scene {
	for _, i := range pods {
		s.pod(i).Labels[appsv1.ControllerRevisionHashLabelKey] = "before"
	}
	s.Set.Status.UpdatedReplicas = *s.Set.Spec.Replicas - int32(len(pods))
	return s
}

// look reads the simulated servers into the view, as the prober would, and returns everything that a reconciler reads.
func (s *scene) look() facts {
	s.view = redis.View{At: clustertest.Noon, Nodes: map[string]redis.NodeStatus{}, Move: s.view.Move}
	for i := range len(s.Pods) {
		for name, port := range map[string]string{"h": "6379", "g": "6380"} {
			address := fmt.Sprintf("10.0.0.%d:%s", i+1, port)
			p := s.procs[fmt.Sprintf("%s%d", name, i)]
			if p == nil {
				s.view.Nodes[address] = redis.NodeStatus{Err: errors.New("connection refused")}
				continue
			}
			status := *p
			status.Known, status.ClusterOK = s.table(status.ID), p.ClusterOK && !s.deaf[p.ID]
			s.view.Nodes[address] = status
		}
	}
	return s.facts
}

// table returns the node table (CLUSTER NODES) of a server: all servers that the server knows, and the ghosts (entries
// that the tests add for lost servers).
func (s *scene) table(myself string) []redis.Peer {
	var out []redis.Peer
	for i := range len(s.Pods) {
		for name, port := range map[string]string{"h": "6379", "g": "6380"} {
			if p := s.procs[fmt.Sprintf("%s%d", name, i)]; p != nil && (p.ID == myself || !s.apart[p.ID] && !s.apart[myself]) {
				out = append(out, redis.Peer{
					ID: p.ID, Address: fmt.Sprintf("10.0.0.%d:%s", i+1, port), Role: p.Role, PrimaryID: p.PrimaryID,
					Myself: p.ID == myself, Connected: true, Slots: p.Slots, Failing: s.deaf[myself] && p.ID != myself,
				})
			}
		}
	}
	if s.apart[myself] {
		return out
	}
	return append(out, s.ghosts...)
}

func (s *scene) plan() kit.Plan { return planAt(s.Cluster, s.look(), clustertest.Noon) }

// step returns the name of the plan's step; "" if there is none.
func (s *scene) step() string {
	if step := s.plan().Step; step != nil {
		return step.Name
	}
	return ""
}

// accepted returns the hashes of the passwords that servers should accept.
func (s *scene) accepted() []string { return s.credentials.Accepted(s.Cluster, s.remaining()) }

func (s *scene) remaining() time.Duration { return access.Remaining(s.known.TunedSince, s.now) }

// decide returns the decision for the current state of the scene.
func (s *scene) decide() decision { return (&reconciler{}).Decide(s.Cluster, s.look(), s.now) }
