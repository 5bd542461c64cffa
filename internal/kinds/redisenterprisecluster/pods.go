// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

// unplaced is for how long a pod with a volume must have had no node for its servers to count as gone: until then it may
// be about to come back, and lead again with the last writes, which a replica may lack.
const unplaced = time.Minute

func asleep(c *redisv1alpha1.RedisEnterpriseCluster) bool { return c.Spec.Hibernate && persistent(c) }

// current is how many pods there are to be as things are. Where there is no StatefulSet, or one that
// sleeps, it is how many there were, be it in an earlier cluster of this name.
func (f facts) current(c *redisv1alpha1.RedisEnterpriseCluster) int32 {
	if n := f.Replicas(); n > 0 {
		return n
	}
	return cmp.Or(c.Status.Nodes, f.inherited)
}

// byOrdinal are the pods that belong to the ring, in their order; nil for one that is not there. Those that the
// StatefulSet has been asked to let go do not belong to it any more.
func (f facts) byOrdinal(c *redisv1alpha1.RedisEnterpriseCluster) []*corev1.Pod {
	out := make([]*corev1.Pod, f.current(c))
	for name, pod := range f.Pods {
		if i := ordinal(c, name); i >= 0 && i < len(out) {
			out[i] = pod
		}
	}
	return out
}

func ordinal(c *redisv1alpha1.RedisEnterpriseCluster, name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, c.Name+"-"))
	if err != nil {
		return -1
	}
	return n
}

func address(pod *corev1.Pod, place redisv1alpha1.Place) string {
	return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(portOf(place))))
}

// ring is what is wanted, and what is known of the pods.
func (f facts) ring(c *redisv1alpha1.RedisEnterpriseCluster, yields *corev1.Pod) ring.Ring {
	rate := c.Spec.SlotMigrationRate.Quantity()
	out := ring.Ring{Nodes: int(nodes(c)), Rate: rate.Value(), Paused: common.IsSet(c.Annotations, common.PausedAnnotation)}
	for _, pod := range f.byOrdinal(c) {
		p := ring.Pod{Gone: f.gone(c, pod)}
		p.Returns = p.Gone && pod != nil && f.storage.kept[pod.Name]
		if pod != nil && pod.Status.PodIP != "" && !ended(pod) {
			p.Home, p.Guest = address(pod, redisv1alpha1.Home), address(pod, redisv1alpha1.Guest)
			p.Ended = notRunning(pod)
		}
		p.Yields = pod != nil && (pod == yields || pod.DeletionTimestamp != nil)
		out.Pods = append(out.Pods, p)
	}
	return out
}

// notRunning are the servers of a pod whose containers do not run, as its kubelet says.
func notRunning(pod *corev1.Pod) map[redis.Place]bool {
	out := map[redis.Place]bool{}
	for _, status := range pod.Status.ContainerStatuses {
		out[redis.Place(status.Name)] = status.State.Running == nil
	}
	return out
}

// gone reports whether the servers of a pod do not run, nor are about to. Where data goes with the pod, what follows it has
// none; a volume may come back with it: see storage.kept.
func (f facts) gone(c *redisv1alpha1.RedisEnterpriseCluster, pod *corev1.Pod) bool {
	switch {
	case pod == nil || ended(pod):
		return !persistent(c)
	case pod.Spec.NodeName != "":
		return false
	}
	return !persistent(c) || f.now.Sub(pod.CreationTimestamp.Time) >= unplaced
}

// servers are what is seen of those of the pods that there are to be.
func (f facts) servers(c *redisv1alpha1.RedisEnterpriseCluster) servers {
	var out servers
	pods, names := f.byOrdinal(c), identity(c).Names(f.current(c))
	for i, name := range names {
		for _, place := range []redisv1alpha1.Place{redisv1alpha1.Home, redisv1alpha1.Guest} {
			s := server{pod: name, place: place}
			if pod := pods[i]; pod != nil && pod.Status.PodIP != "" {
				s.fill(address(pod, place), f.view)
			}
			out = append(out, s)
		}
	}
	return out
}

func (s *server) fill(address string, view redis.View) {
	status := view.Nodes[address]
	s.address, s.loading, s.err = address, status.Loading, status.Err
	if s.answers = status.Answers(); !s.answers {
		return
	}
	s.run, s.version = status.RunID, status.Version
	s.slots, s.inSync, s.down = status.Slots, status.LinkUp, whyDown(status)
	s.role, s.shard = redisv1alpha1.Primary, status.ID
	if status.Role == redis.Replica {
		s.role, s.shard = redisv1alpha1.Replica, status.PrimaryID
	}
}

// old are the pods that do not run what the spec says, in their order. Which these are is known only once the
// StatefulSet's controller has seen the last change.
func (f facts) old(c *redisv1alpha1.RedisEnterpriseCluster) []*corev1.Pod {
	if f.Set == nil || f.Behind || f.Set.Status.ObservedGeneration < f.Set.Generation || f.Set.Status.UpdateRevision == "" {
		return nil
	}
	var out []*corev1.Pod
	for _, pod := range f.byOrdinal(c) {
		if pod != nil && pod.DeletionTimestamp == nil && pod.Labels[appsv1.ControllerRevisionHashLabelKey] != f.Set.Status.UpdateRevision {
			out = append(out, pod)
		}
	}
	return out
}

// upgrades reports whether pods that are old run another image of the server than the StatefulSet has.
func (f facts) upgrades(old []*corev1.Pod) bool {
	if f.Set == nil {
		return false
	}
	image := imageIn(f.Set.Spec.Template.Spec)
	return slices.ContainsFunc(old, func(pod *corev1.Pod) bool { return imageIn(pod.Spec) != image })
}

func imageIn(spec corev1.PodSpec) string {
	for _, c := range spec.Containers {
		if c.Name == homeContainer {
			return c.Image
		}
	}
	return ""
}
