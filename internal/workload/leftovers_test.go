// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// deletedAt marks a pod as deleted, with the given end of its grace period.
func deletedAt(seconds int64) podOption {
	return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(seconds, 0)} }
}

func TestAPodIsStuckWhenItsNodeDoesNotAnswerOrItsGraceIsLongOver(t *testing.T) {
	now := time.Unix(100, 0)
	for name, test := range map[string]struct {
		pod   *corev1.Pod
		stuck bool
		in    time.Duration
	}{
		"it is not being deleted":              {newPod(onLostNode), false, 0},
		"it is on its way":                     {newPod(deletedAt(130)), false, 40 * time.Second},
		"its grace is just over":               {newPod(deletedAt(95)), false, 5 * time.Second},
		"its grace is long over":               {newPod(deletedAt(90)), true, 0},
		"its node does not answer":             {newPod(deletedAt(130), onLostNode), true, 0},
		"its probe fails while it is going":    {newPod(deletedAt(130), has(corev1.PodReady, corev1.ConditionFalse, ""), has(corev1.ContainersReady, corev1.ConditionFalse, "")), false, 40 * time.Second},
		"its node does not answer, and it was": {newPod(deletedAt(90), has(corev1.PodReady, corev1.ConditionFalse, "")), true, 0},
	} {
		if got := Stuck(test.pod, now); got != test.stuck {
			t.Errorf("%s: expected stuck %v, got %v", name, test.stuck, got)
		}
		if got := StuckIn([]*corev1.Pod{test.pod}, now); got != test.in {
			t.Errorf("%s: expected to look again in %s, got %s", name, test.in, got)
		}
	}
}

func TestReadyNamesWhatIsLeftOverOnlyWhileItIsTrue(t *testing.T) {
	held := podOf("web-1", "b", deletedAt(1), isOn("n2"))
	held.Finalizers = []string{"example.com/hold"}
	late := podOf("web-1", "c", deletedAt(1), isOn("n3"))
	all := StuckOf([]*corev1.Pod{late, held, lostOld}, time.Unix(100, 0))
	report := func(ready func(condition.Set)) func(condition.Set) {
		return func(set condition.Set) {
			ready(set)
			all.Report(set)
		}
	}
	whole := report(func(set condition.Set) { set.True("Ready", "AllPodsReady", "2 of 2 pods are ready") })
	same(t, "Ready", "True AllPodsReady: 2 of 2 pods are ready; stuck in deletion: pod b, c, old-2", reportedBy("Ready", whole))
	same(t, "Leftovers", "True PodStuck: Pods are stuck in deletion, but nothing waits for them; "+
		"b: the pod is being deleted, and should have ended by 1970-01-01T00:00:01Z, but the finalizers example.com/hold block the deletion; "+
		"c: the pod is being deleted, and should have ended by 1970-01-01T00:00:01Z; check node n3; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service; "+
		"old-2: the pod is being deleted, and node n1 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service",
		reportedBy("Leftovers", whole))
	broken := report(func(set condition.Set) { set.False("Ready", "PodsNotReady", "1 of 2 pods are ready") })
	same(t, "Ready", "False PodsNotReady: 1 of 2 pods are ready", reportedBy("Ready", broken))
}

// Regression: a rollout seemed to last as long as a surplus pod was stuck in deletion, because a StatefulSet counts
// such a pod in status.replicas but never in status.updatedReplicas.
func TestAPodThatHangsBeyondTheWantedNumberDoesNotHoldUpTheRest(t *testing.T) {
	hanging := func(name string) client.Object {
		pod := podOf(web.Name, name, deletedAt(1), onLostNode)
		pod.Finalizers = []string{"example.com/held"} // the fake API server requires a finalizer on objects that are being deleted
		return pod
	}
	set := newStatefulSet(1)
	set.Status.Replicas, set.Status.UpdatedReplicas = 2, 1
	for name, test := range map[string]struct {
		objects []client.Object
		want    string
		left    int
	}{
		"it hangs": {[]client.Object{set, podOf(web.Name, "web-0", isReady), hanging("web-1")}, "True AllPodsReady: 1 of 1 clients are ready", 1},
		"it goes":  {[]client.Object{set, podOf(web.Name, "web-0", isReady), podOf(web.Name, "web-1", isReady)}, "False Updating: 1 of 1 clients run the new template", 0},
		"it is one of those wanted": {[]client.Object{set, hanging("web-0")},
			"False PodsNotReady: 0 of 1 clients are ready; web-0: the pod is being deleted, and node node2 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service", 0},
		"it is of an earlier StatefulSet": {[]client.Object{newStatefulSet(1), podOf(web.Name, "web-0", isReady), former("StatefulSet", web.Name, "web-1", onLostNode)},
			"True AllPodsReady: 1 of 1 clients are ready", 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := observeMembers(t, test.objects...)
			same(t, "the condition", test.want, reportedBy("ClientsReady", func(set condition.Set) {
				m.Report(set, "ClientsReady", "clients", web.Names(1), kit.Outcome{})
			}))
			if left := m.Leftovers(time.Unix(1, 0)); len(left) != test.left {
				t.Errorf("expected %d pods to be left over, got %d", test.left, len(left))
			}
		})
	}
}

func TestWhatOthersMayWaitForIsNotLeftOver(t *testing.T) {
	for name, test := range map[string]struct {
		rollout Rollout
		left    int
	}{
		"beside all that are wanted": {rolled(1, withPods(podOf("web-2", "a", isReady), lostOld)), 1},
		"before they are there":      {rolled(1, counts(1, 0, 1), withPods(lostOld, starting)), 0},
		"where none is wanted":       {rolled(0, withPods(lostOld)), 1},
	} {
		if left := test.rollout.Leftovers(time.Unix(1, 0)); len(left) != test.left {
			t.Errorf("%s: expected %d pods to be left over, got %d", name, test.left, len(left))
		}
	}
}
