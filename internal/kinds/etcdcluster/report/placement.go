// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// Placement sets the condition that reports which members would be lost together with a node or zone.
func Placement(set condition.Set, members []model.Member) {
	workload.ReportPlacement(set, places(members), costOf(members))
}

// places returns the node and the zone of each member.
func places(members []model.Member) []workload.Place {
	var pods []*corev1.Pod
	zones := map[string]string{}
	for _, m := range members {
		if m.Pod == nil {
			continue
		}
		pods = append(pods, m.Pod)
		if m.Node != nil {
			zones[m.Name] = m.Node.Zone
		}
	}
	var out []workload.Place
	for _, pod := range workload.Bound(pods) {
		out = append(out, workload.Place{Member: pod.Name, Node: pod.Spec.NodeName, Zone: zones[pod.Name]})
	}
	return out
}

// costOf returns a function that computes what the loss of some members would cost the cluster. Only voters count for
// the quorum.
func costOf(all []model.Member) func(lost []string) workload.Cost {
	return func(lost []string) workload.Cost {
		voters, left := 0, 0
		for _, m := range all {
			if !m.Voter() {
				continue
			}
			voters++
			if !slices.Contains(lost, m.Name) {
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
