// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
	"github.com/opcrew/opcrew/internal/workload"
)

// unscheduled is how long a pod with a volume must have had no node before its servers count as gone. If the pod starts
// earlier, its server may be the primary again, with its last writes, which its replica may lack.
const unscheduled = time.Minute

// Pods are the pods of a cluster, without pods that the StatefulSet is removing.
type Pods struct {
	Names []string
	// ByOrdinal holds the pods in the order of Names; nil for a pod that does not exist.
	ByOrdinal []*corev1.Pod
	// Persistent is true if pods have volumes. MayReturn holds the names of the pods whose volume may still have data.
	// If such a pod is gone, a new pod with this volume can bring the data back.
	Persistent bool
	MayReturn  map[string]bool
	Now        time.Time
}

// PodsOf returns the pods of a cluster. inherited is how many pods an earlier cluster of the same name had.
func PodsOf(c *redisv1alpha1.RedisEnterpriseCluster, members workload.Members, inherited int32, now time.Time) Pods {
	n := Count(c, members, inherited)
	out := Pods{Names: desired.Identity(c).Names(n), ByOrdinal: make([]*corev1.Pod, n), Persistent: desired.Persistent(c), Now: now}
	for name, pod := range members.Pods {
		if i := desired.Ordinal(c, name); i >= 0 && i < len(out.ByOrdinal) {
			out.ByOrdinal[i] = pod
		}
	}
	return out
}

// Count returns how many pods the cluster has now. Without a StatefulSet or during hibernation, it returns how many
// pods the cluster, or an earlier cluster of the same name, had last.
func Count(c *redisv1alpha1.RedisEnterpriseCluster, members workload.Members, inherited int32) int32 {
	return cmp.Or(members.Replicas(), c.Status.Nodes, inherited)
}

func address(pod *corev1.Pod, place redisv1alpha1.Place) string {
	return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(desired.Port(place))))
}

// Targets returns the servers for the prober to read: both servers of every pod that has an address.
func (p Pods) Targets() []redis.Node {
	var out []redis.Node
	for i, pod := range p.ByOrdinal {
		if pod == nil || pod.Status.PodIP == "" || Ended(pod) {
			continue
		}
		out = append(out,
			redis.Node{Address: address(pod, redisv1alpha1.Home), Pod: i, Place: redis.Home},
			redis.Node{Address: address(pod, redisv1alpha1.Guest), Pod: i, Place: redis.Guest})
	}
	return out
}

// Ring returns what the rules in package ring need to know about the pods.
func (p Pods) Ring() []ring.Pod {
	out := make([]ring.Pod, 0, len(p.ByOrdinal))
	for _, pod := range p.ByOrdinal {
		in := ring.Pod{Gone: Gone(pod, p.Persistent, p.Now)}
		in.Returns = in.Gone && pod != nil && p.MayReturn[pod.Name]
		if pod != nil && pod.Status.PodIP != "" && !Ended(pod) {
			in.Home, in.Guest = address(pod, redisv1alpha1.Home), address(pod, redisv1alpha1.Guest)
			in.Ended = notRunning(pod)
		}
		in.Yields = pod != nil && pod.DeletionTimestamp != nil
		out = append(out, in)
	}
	return out
}

// Gone reports whether the servers of a pod do not run and will not start. Without a volume, their data is lost. With a
// volume, a new pod of the same name may have the data again: see Pods.MayReturn.
func Gone(pod *corev1.Pod, persistent bool, now time.Time) bool {
	switch {
	case pod == nil || Ended(pod):
		return !persistent
	case pod.Spec.NodeName != "":
		return false
	}
	return !persistent || now.Sub(pod.CreationTimestamp.Time) >= unscheduled
}

// Gone returns the names of the pods that are gone.
func (p Pods) Gone() []string {
	var out []string
	for i, pod := range p.ByOrdinal {
		if Gone(pod, p.Persistent, p.Now) {
			out = append(out, p.Names[i])
		}
	}
	return out
}

// Index returns the position of a pod among the cluster's pods; -1 if it is not one of them.
func (p Pods) Index(pod *corev1.Pod) int {
	if pod == nil {
		return -1
	}
	return slices.Index(p.ByOrdinal, pod)
}
