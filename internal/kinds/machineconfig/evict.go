// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// evict evicts pods, after it has read the node from the API server: a node that got another order, or was uncordoned,
// keeps its pods. A PodDisruptionBudget that forbids an eviction is no error; the next look explains it.
func (s *shared) evict(ctx context.Context, node *corev1.Node, pods []drain.Pod) error {
	live := &corev1.Node{}
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(node), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	same := live.UID == node.UID && live.Annotations[machineorder.DesiredConfig] == node.Annotations[machineorder.DesiredConfig]
	if !same || !live.Spec.Unschedulable || fleet.Phase(live) != rollout.WantsDrain {
		return kit.ErrNotNow
	}
	return s.refused.All(ctx, s.Client, node.Name, pods)
}
