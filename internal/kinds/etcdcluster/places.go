// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// reportPlacement says which members would be lost together.
func (f facts) reportPlacement(set condition.Set, c *etcdv1beta2.EtcdCluster, d decision) {
	if c.Status.ClusterID == "" || asleep(c) {
		set.Remove(common.ConditionPlacement)
		return
	}
	workload.ReportPlacement(set, f.places(d), costOf(d.members))
}

// places are where the members run.
func (f facts) places(d decision) []workload.Place {
	var pods []*corev1.Pod
	for _, m := range d.members {
		if m.pod != nil {
			pods = append(pods, m.pod)
		}
	}
	var out []workload.Place
	for _, pod := range workload.Bound(pods) {
		out = append(out, workload.Place{Member: pod.Name, Node: pod.Spec.NodeName, Zone: f.nodes[pod.Spec.NodeName].zone})
	}
	return out
}

// costOf says what the loss of some members costs a cluster. Only voters make a quorum.
func costOf(all []member) func(lost []string) workload.Cost {
	return func(lost []string) workload.Cost {
		voters, left := 0, 0
		for _, m := range all {
			if !m.voter() {
				continue
			}
			voters++
			if !slices.Contains(lost, m.name) {
				left++
			}
		}
		words := fmt.Sprintf("%d of %d members", len(lost), len(all))
		if left < voters/2+1 {
			return workload.Cost{Words: words + ": quorum", Harms: true}
		}
		return workload.Cost{Words: words}
	}
}
