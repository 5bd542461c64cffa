// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

func TestPlacementFollowsAPodThatMoves(t *testing.T) {
	s := newSiteOf(t, 3, env.Operator)
	s.create(withClaims)
	s.awaitWhole()
	s.awaitCondition(common.ConditionPlacement, "True Spread", "loses 1 of 3 pods")
	pods := s.pods()
	shared := pods[1].Spec.NodeName
	for _, pod := range pods {
		if pod.Spec.NodeName != shared {
			s.patch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}}, `{"spec":{"unschedulable":true}}`)
		}
	}
	s.delete(&pods[0])
	s.awaitCondition(common.ConditionPlacement, "False SharedNode", "Losing "+shared, "loses 2 of 3 pods", "every copy of slots", "the majority of the primaries (2 of 3 are lost)")
	s.awaitWhole()
}
