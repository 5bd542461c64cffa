// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// cordon makes nodes unschedulable or schedulable.
func (s *site) cordon(unschedulable bool, nodes ...string) {
	s.Helper()
	for _, name := range nodes {
		s.patch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, unschedulable))
	}
}

func TestPlacementFollowsAPodThatMovesAndAZoneThatChanges(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.awaitCondition(common.ConditionPlacement, "True Spread", "loses 1 of 3 members")
	pods := s.pods()
	moved, shared := pods[0], pods[1].Spec.NodeName
	others := slices.DeleteFunc(slices.Clone(s.nodes), func(node string) bool { return node == shared })
	s.cordon(true, others...)
	s.delete(&moved)
	s.awaitCondition(common.ConditionPlacement, "False SharedNode", "Losing "+shared, "loses 2 of 3 members: quorum")
	s.await("True AllMembersReady")

	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	env.Heartbeat(t, s.nodes...)
	if calls := env.Settled(t, mark).Writes(); len(calls) > 0 {
		t.Errorf("expected heartbeats of nodes to cost nothing, got:\n%s", calls)
	}

	s.cordon(false, others...)
	s.cordon(true, shared)
	s.delete(&moved)
	s.awaitCondition(common.ConditionPlacement, "True Spread")
	for _, node := range s.nodes {
		s.patch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, `{"metadata":{"labels":{"topology.kubernetes.io/zone":"a"}}}`)
	}
	s.awaitCondition(common.ConditionPlacement, "False SharedZone", "Losing zone a", "loses 3 of 3 members: quorum")
}

func TestAClusterThatShrinksLosesTheMemberOnACordonedNodeFirst(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	s.awaitCondition(common.ConditionPlacement, "True Spread")
	pods := s.pods()
	oldest := pods[slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.Annotations[model.SerialAnnotation] == "0" })]
	s.operator.Stop() // the operator must see the cordoned node before it sees the new size
	s.cordon(true, oldest.Spec.NodeName)
	s.edit(sized(2))
	s.operator.Start()
	s.awaitWhole()
	if left := names(s.pods()); slices.Contains(left, oldest.Name) {
		t.Errorf("expected the oldest member %s to go, as its node is cordoned, and %q are left", oldest.Name, left)
	}
}

// Regression: all members were ready soon after a node had crashed, but Ready stayed False because of the old pod on
// that node.
func TestAPodThatHangsOnADeadNodeIsLeftOverAndNotWaitedFor(t *testing.T) {
	s := newSite(t)
	s.create(withClaims, impatient)
	s.awaitWhole()
	victim := s.pods()[0]
	s.patch(&victim, `{"metadata":{"finalizers":["testenv.opcrew.io/hangs"]}}`)
	t.Cleanup(func() { s.letGo(&victim) })
	env.SetNodeReady(t, victim.Spec.NodeName, false)
	store.Hang(victim.Name)
	s.await("True AllMembersReady", "3 of 3 members are ready; stuck in deletion: pod "+victim.Name)
	s.awaitCondition(common.ConditionLeftovers, "True PodStuck", victim.Name+": the pod is being deleted")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.letGo(&victim)
	operator.Until(t, "nothing is left over", func() error {
		c := s.get()
		if left := meta.FindStatusCondition(c.Status.Conditions, common.ConditionLeftovers); left != nil {
			return fmt.Errorf("it says %q", left.Message)
		}
		return nil
	})
	s.await("True AllMembersReady")
}

// letGo removes the finalizers of a pod, if the pod exists.
func (s *site) letGo(pod *corev1.Pod) {
	none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	_ = env.Client.Patch(context.WithoutCancel(s.Context()), pod.DeepCopy(), none)
}

// Regression: opcrew reported that another controller deleted the disruption budget. In fact opcrew itself deletes it
// whenever the second member is gone.
func TestAMemberThatIsUpdatedAgainAndAgainIsInNoContest(t *testing.T) {
	s := newSite(t)
	s.create(sized(1))
	s.awaitWhole()
	for i := range 5 {
		s.edit(func(c *etcdv1beta2.EtcdCluster) {
			c.Spec.Pod = &etcdv1beta2.PodPolicy{EtcdEnv: []etcdv1beta2.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: fmt.Sprint(1000000 + i)}}}
		})
		s.awaitWhole()
	}
	if c := s.get(); meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterChildrenReady).Reason != common.ReasonAsDeclared {
		t.Errorf("expected no contest, got %+v", c.Status.Conditions)
	}
}
