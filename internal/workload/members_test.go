// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func newStatefulSet(replicas int32) *appsv1.StatefulSet {
	set := owned(&appsv1.StatefulSet{}, web.Name, "app")
	set.Generation, set.Spec.Replicas = 3, &replicas
	set.Status = appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: replicas, UpdatedReplicas: replicas}
	return set
}

func observeMembers(t *testing.T, objects ...client.Object) Members {
	t.Helper()
	m, err := ObserveMembers(t.Context(), fake.NewClientBuilder().WithObjects(objects...).Build(), theApp(), web)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// orphan returns a pod that a StatefulSet created and that now has no controller.
func orphan(name string, options ...podOption) *corev1.Pod {
	pod := podOf(web.Name, name, options...)
	pod.OwnerReferences = nil
	pod.Labels = maps.Clone(pod.Labels)
	pod.Labels[appsv1.StatefulSetPodNameLabel] = name
	return pod
}

func TestMembersAreThePodsOfTheStatefulSetAlsoWhileItIsRecreated(t *testing.T) {
	somebodys := orphan("web-3")
	delete(somebodys.Labels, appsv1.StatefulSetPodNameLabel)
	pods := []client.Object{podOf(web.Name, "web-0", isReady), orphan("web-1", isReady), podOf("predecessor", "web-2", isReady), somebodys}
	for name, test := range map[string]struct {
		objects []client.Object
		want    []string
		set     bool
	}{
		"with it":                          {append(pods, newStatefulSet(3)), []string{"web-0", "web-1"}, true},
		"without it":                       {pods, []string{"web-1"}, false},
		"with another owner's":             {append(pods, owned(newStatefulSet(3), web.Name, "others")), []string{"web-1"}, false},
		"with one that has no pods so far": {[]client.Object{newStatefulSet(3)}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := observeMembers(t, test.objects...)
			same(t, "pods", test.want, slices.Sorted(maps.Keys(m.Pods)))
			if (m.Set != nil) != test.set {
				t.Errorf("expected a StatefulSet of ours: %t, got %v", test.set, m.Set)
			}
		})
	}
}

func TestAMembersConditionReportsWhatBlocksIt(t *testing.T) {
	ready := func(names ...string) (out []client.Object) {
		for _, name := range names {
			out = append(out, podOf(web.Name, name, isReady))
		}
		return out
	}
	rolling := newStatefulSet(2)
	rolling.Status.UpdatedReplicas = 1
	for name, test := range map[string]struct {
		objects []client.Object
		change  func(*Members)
		done    kit.Outcome
		want    string
	}{
		"nothing is there yet": {nil, nil, kit.Outcome{}, "False Applying: The clients are being created"},
		"all are ready":        {append(ready("web-0", "web-1"), newStatefulSet(2)), nil, kit.Outcome{}, "True AllPodsReady: 2 of 2 clients are ready"},
		"more are to come":     {append(ready("web-0"), newStatefulSet(1)), nil, kit.Outcome{}, "False Updating: The number of clients is changing from 1 to 2"},
		"one is being made":    {append(ready("web-0"), newStatefulSet(2)), nil, kit.Outcome{}, "False Updating: 1 of 2 clients are ready; web-1: the pod is being created"},
		"one starts":           {append(ready("web-0"), newStatefulSet(2), podOf(web.Name, "web-1")), nil, kit.Outcome{}, "False Updating: 1 of 2 clients are ready; web-1: the pod is starting"},
		"a quota refuses one":  {append(ready("web-0"), newStatefulSet(2)), func(m *Members) { m.Refusal.Words = "exceeded quota: q" }, kit.Outcome{}, "False PodsMissing: 1 of 2 clients cannot be created: exceeded quota: q"},
		"and the spec changed": {append(ready("web-0"), newStatefulSet(2)), func(m *Members) { m.Refusal.Words = "exceeded quota: q" }, outcome("StatefulSet", ensure.Applied), "False Updating: The StatefulSet controller has not processed the last change yet"},
		"a change goes on":     {append(ready("web-0", "web-1"), rolling), nil, kit.Outcome{}, "False Updating: 1 of 2 clients run the new template"},
		"the cache is behind":  {append(ready("web-0", "web-1"), newStatefulSet(2)), func(m *Members) { m.Behind = true }, kit.Outcome{}, "False Updating: The StatefulSet controller has not processed the last change yet"},
		"it is created again":  {append(ready("web-0", "web-1"), newStatefulSet(2)), nil, outcome("StatefulSet", ensure.Replaced), "False Updating: The StatefulSet controller has not processed the last change yet"},
		"another child is":     {append(ready("web-0", "web-1"), newStatefulSet(2)), nil, outcome("Deployment", ensure.Applied), "True AllPodsReady: 2 of 2 clients are ready"},
	} {
		t.Run(name, func(t *testing.T) {
			m := observeMembers(t, test.objects...)
			if test.change != nil {
				test.change(&m)
			}
			same(t, "the condition", test.want, reportedBy("ClientsReady", func(set condition.Set) {
				m.Report(set, "ClientsReady", "clients", web.Names(2), test.done)
			}))
		})
	}
}

// former returns a pod of an earlier StatefulSet or ReplicaSet that is being deleted.
func former(kind, set, name string, options ...podOption) *corev1.Pod {
	pod := podOf(set, name, append(options, isGoing)...)
	pod.OwnerReferences[0].UID, pod.OwnerReferences[0].Kind = "uid-of-an-earlier-one", kind
	pod.Finalizers = []string{"example.com/held"} // the fake API server requires a finalizer on objects that are being deleted
	return pod
}

func isGoing(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

// onLostNode sets the conditions that Kubernetes sets for a pod whose node does not respond.
func onLostNode(p *corev1.Pod) {
	isOn("node2")(p)
	has(corev1.PodReady, corev1.ConditionFalse, "")(p)
	has(corev1.ContainersReady, corev1.ConditionTrue, "")(p)
}

func TestAPodOfAnEarlierStatefulSetIsNamedWhereItIsInTheWay(t *testing.T) {
	const lost = "web-0: the pod is created when the pod of an earlier StatefulSet is gone: the pod is being deleted, and node node2 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service"
	for name, test := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"on a node that is lost":             {[]client.Object{newStatefulSet(1), former("StatefulSet", web.Name, "web-0", onLostNode)}, "False PodsNotReady: 0 of 1 clients are ready; " + lost},
		"before there is a StatefulSet":      {[]client.Object{former("StatefulSet", web.Name, "web-0", onLostNode)}, "False PodsNotReady: The clients are being created; " + lost},
		"that goes by itself":                {[]client.Object{newStatefulSet(1), former("StatefulSet", web.Name, "web-0")}, "False Updating: 0 of 1 clients are ready; web-0: the pod is created when the pod of an earlier StatefulSet is gone: the pod is being deleted"},
		"and one of another's, which is not": {[]client.Object{newStatefulSet(1), former("StatefulSet", "theirs", "web-0", onLostNode)}, "False Updating: 0 of 1 clients are ready; web-0: the pod is being created"},
	} {
		t.Run(name, func(t *testing.T) {
			m := observeMembers(t, test.objects...)
			same(t, "the condition", test.want, reportedBy("ClientsReady", func(set condition.Set) {
				m.Report(set, "ClientsReady", "clients", web.Names(1), kit.Outcome{})
			}))
		})
	}
}

func TestThePodsThatAKubeletRunsAreBound(t *testing.T) {
	on := func(p *corev1.Pod) { p.Spec.NodeName = "node1" }
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	pods := []*corev1.Pod{newPod(on), newPod(), newPod(on, isDeleted), newPod(on, ended)}
	if got := Bound(pods); len(got) != 1 || got[0] != pods[0] || len(pods) != 4 || pods[1] == nil {
		t.Errorf("expected the first of them, got %d", len(got))
	}
}

func TestNamesStandInTheOrderOfTheirOrdinals(t *testing.T) {
	names := web.Names(12)
	if len(names) != 12 || names[10] != fmt.Sprintf("%s-10", web.Name) {
		t.Errorf("expected them by number and not by letter, got %q", names)
	}
}
