// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

func TestPlacementFollowsAServerThatMovesAndAZoneThatChanges(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	s.await(common.ConditionPlacement, "True Spread", "loses 1 of 2 servers: 50% of the keys")
	first, second := &corev1.Pod{}, &corev1.Pod{}
	s.read("web-0", first)
	s.read("web-1", second)
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	s.patch(node(first.Spec.NodeName), `{"spec":{"unschedulable":true}}`)
	if err := env.Client.Delete(t.Context(), first, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.await(common.ConditionPlacement, "False SharedNode", "Losing "+second.Spec.NodeName+" (web-0, web-1) loses 2 of 2 servers: 100% of the keys")
	s.awaitReady(2)

	s.patch(node(first.Spec.NodeName), `{"spec":{"unschedulable":false}}`)
	s.patch(node(second.Spec.NodeName), `{"spec":{"unschedulable":true}}`)
	s.read("web-0", first)
	if err := env.Client.Delete(t.Context(), first, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.await(common.ConditionPlacement, "True Spread")
	s.awaitReady(2)
	s.read("web-0", first)
	for _, name := range []string{first.Spec.NodeName, second.Spec.NodeName} {
		s.patch(node(name), `{"metadata":{"labels":{"topology.kubernetes.io/zone":"a"}}}`)
	}
	s.await(common.ConditionPlacement, "False SharedZone", "Losing zone a (web-0, web-1) loses 2 of 2 servers")
}
