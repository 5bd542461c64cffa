// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// leaving adds the pod of a removed member. The pod is being deleted.
func (w world) leaving(serial int64, nodeAnswers bool) world {
	gone := observed(w.c, 0).with(serial, false)
	name := model.MemberName(w.c, serial)
	pod := gone.pods[name]
	pod.DeletionTimestamp = &metav1.Time{Time: clustertest.Noon.Add(30 * time.Second)}
	if !nodeAnswers {
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		}
	}
	w.pods[name] = pod
	return w
}

// Regression: all members were ready 22 seconds after a node had crashed, but Ready stayed False because of the old pod
// on that node.
func TestAPodOnADeadNodeOfAMemberThatWasReplacedIsNotWaitedFor(t *testing.T) {
	w := observed(clustertest.New(), 3).leaving(7, false)
	pod := model.MemberName(w.c, 7)
	c := reported(w)
	if got := conditionOf(c, "Ready"); got != "True AllMembersReady: 3 of 3 members are ready; stuck in deletion: pod "+pod {
		t.Errorf("expected Ready to be about the members, and to name the pod, got %s", got)
	}
	want := "True PodStuck: Pods are stuck in deletion, but nothing waits for them; " + pod + ": the pod is being deleted, and node node-7 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service"
	if got := conditionOf(c, common.ConditionLeftovers); got != want {
		t.Errorf("expected Leftovers to be\n%s, got\n%s", want, got)
	}
	if again := w.again(w.c, w.decide(w.c)); again != 0 {
		t.Errorf("expected the pod not to be looked at again by itself, got a look after %s", again)
	}
}

func TestAPodThatGoesIsWaitedForUntilItsGraceIsLongOver(t *testing.T) {
	w := observed(clustertest.New(), 3).leaving(7, true)
	pod := model.MemberName(w.c, 7)
	if got := conditionOf(reported(w), "Ready"); got != "False ScalingDown: 3 of 3 members are ready; pod "+pod+" of a removed member is being deleted" {
		t.Errorf("expected Ready to wait for a pod that is about to be gone, got %s", got)
	}
	if again := w.again(w.c, w.decide(w.c)); again != strayWait {
		t.Errorf("expected another look after %s, got %s", strayWait, again)
	}
	w.now = clustertest.Noon.Add(40 * time.Second)
	w.view.At = w.now
	if got := conditionOf(reported(w), common.ConditionLeftovers); got == "none" {
		t.Error("expected the pod to be left over once it should have gone")
	}
}

func TestThePodOfALostMemberIsNoLeftover(t *testing.T) {
	w := observed(clustertest.New(), 3)
	pod := w.leaving(1, false).pods[model.MemberName(w.c, 1)]
	w.pods[pod.Name] = pod
	if got := conditionOf(reported(w), common.ConditionLeftovers); got != "none" {
		t.Errorf("expected a member that has yet to be replaced not to be called left over, got %s", got)
	}
}
