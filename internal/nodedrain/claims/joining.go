// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// PoolRecord is an annotation of Nodes in which NodePool records, among other things, its pipelines on the node.
const PoolRecord = "opcrew.io/nodepools"

// Joins reports whether a node carries the taint of nodes that join a NodePool.
func Joins(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == nodesv1.JoiningTaint && t.Effect == corev1.TaintEffectNoSchedule
	})
}

// JoiningPools returns the NodePools that a node joins according to its record; none if it has no record yet.
func JoiningPools(node *corev1.Node) []string {
	record := struct {
		Pipelines map[string]struct {
			Phase nodesv1.PipelinePhase `json:"phase"`
		} `json:"pipelines"`
	}{}
	if json.Unmarshal([]byte(node.Annotations[PoolRecord]), &record) != nil {
		return nil // another client has changed the record
	}
	var pools []string
	for pool, mark := range record.Pipelines {
		if mark.Phase == nodesv1.PipelineJoining {
			pools = append(pools, pool)
		}
	}
	slices.Sort(pools)
	return pools
}
