// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// owned labels an object as part of the application, and sets a controller whose UID is derived from owner.
func owned[O client.Object](object O, name, owner string) O {
	object.SetNamespace(web.Namespace)
	object.SetName(name)
	object.SetUID(types.UID("uid-of-" + name))
	object.SetLabels(web.Selector)
	holder := &metav1.ObjectMeta{Name: owner, UID: types.UID("uid-of-" + owner)}
	object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(holder, schema.GroupVersionKind{Version: "v1", Kind: "Owner"})})
	return object
}

// theApp returns the owner of the Deployment web.
func theApp() client.Object { return owned(&corev1.ConfigMap{}, "app", "no-owner") }

// newDeployment returns a Deployment that has rolled out the given number of pods.
func newDeployment(replicas int32) *appsv1.Deployment {
	d := owned(&appsv1.Deployment{}, web.Name, "app")
	d.Generation, d.Spec.Replicas = 3, &replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 3, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	return d
}

func newSet(name string, revision int) *appsv1.ReplicaSet {
	set := owned(&appsv1.ReplicaSet{}, name, web.Name)
	set.Annotations = map[string]string{revisionAnnotation: fmt.Sprint(revision)}
	return set
}

func podOf(set, name string, options ...podOption) *corev1.Pod {
	pod := owned(newPod(options...), name, set)
	return pod
}

// observe returns the Rollout that is read from the given objects.
func observe(t *testing.T, objects ...client.Object) Rollout {
	t.Helper()
	r, err := ObserveRollout(t.Context(), fake.NewClientBuilder().WithObjects(objects...).Build(), theApp(), web)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOnlyWhatBelongsToTheDeploymentCounts(t *testing.T) {
	elsewhere, unlabelled, orphan := podOf("web-2", "p6", isReady), podOf("web-2", "p7", isReady), podOf("web-2", "p8", isReady)
	elsewhere.Namespace, unlabelled.Labels, orphan.OwnerReferences = "other", nil, nil
	r := observe(t, newDeployment(2),
		newSet("web-1", 1), newSet("web-2", 2), owned(newSet("theirs", 9), "theirs", "their-deployment"),
		podOf("web-2", "p2", isReady), podOf("web-1", "p1", isReady), podOf("web-2", "p3"), podOf("theirs", "p5", isReady), elsewhere, unlabelled, orphan)
	names := []string{}
	for _, pod := range r.Pods {
		names = append(names, pod.Name)
	}
	if !slices.Equal(names, []string{"p1", "p2", "p3"}) {
		t.Errorf("expected the pods of the Deployment's ReplicaSets, by name, got %q", names)
	}
	if len(r.Sets) != 2 || r.Ready() != 2 {
		t.Errorf("expected 2 ReplicaSets and 2 ready pods, got %d and %d", len(r.Sets), r.Ready())
	}
}

func TestTheNewestReplicaSetIsThatOfTheHighestRevision(t *testing.T) {
	unnumbered := newSet("web-0", 0)
	unnumbered.Annotations = nil
	r := observe(t, newDeployment(1), newSet("web-a", 9), newSet("web-b", 10), newSet("web-c", 2), unnumbered)
	got := []string{}
	for i := range r.Sets {
		got = append(got, r.Sets[i].Name)
	}
	if want := []string{"web-b", "web-a", "web-c", "web-0"}; !slices.Equal(got, want) {
		t.Errorf("expected the order %q, by number and not by letter, got %q", want, got)
	}
}

func TestAnotherOwnersDeploymentIsNoneOfOurs(t *testing.T) {
	theirs := newDeployment(3)
	theirs.OwnerReferences = nil
	predecessors := newDeployment(3)
	predecessors.OwnerReferences[0].UID = "earlier"
	for name, objects := range map[string][]client.Object{
		"none": {}, "another owner's": {theirs}, "that of an earlier object of this name": {predecessors},
	} {
		r := observe(t, append(objects, newSet("web-1", 1), podOf("web-1", "p1", isReady))...)
		if r.Deployment != nil || r.Ready() != 0 || r.Replicas() != 0 || r.Observed() || r.Complete() {
			t.Errorf("%s: expected nothing to be known, got %+v", name, r)
		}
	}
}

func TestAReadThatFailedIsAnErrorAndNoFact(t *testing.T) {
	lists := 0
	for failing := range 3 { // the read that fails: of the Deployment, the ReplicaSets or the pods
		lists = 0
		reader := fake.NewClientBuilder().WithObjects(newDeployment(1)).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if failing == 0 {
					return errors.New("timeout")
				}
				return c.Get(ctx, key, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if lists++; lists == failing {
					return errors.New("timeout")
				}
				return c.List(ctx, list, opts...)
			},
		}).Build()
		if _, err := ObserveRollout(t.Context(), reader, theApp(), web); err == nil {
			t.Errorf("read %d: expected its failure to be an error, and not taken for an absence", failing)
		}
	}
}

func TestARolloutIsCompleteWhenAllPodsAreNewAndReadyAndNoOtherIsLeft(t *testing.T) {
	more := func(options ...podOption) rolloutOption {
		return func(r *Rollout) { r.Pods = append(r.Pods, *podOf("web-1", "more", options...)) }
	}
	ended := func(phase corev1.PodPhase) podOption { return func(p *corev1.Pod) { p.Status.Phase = phase } }
	for name, test := range map[string]struct {
		rollout Rollout
		want    bool
	}{
		"it is": {rolled(2), true},
		"the controller has not seen the last change": {rolled(2, isUnseen), false},
		"what was read is older than our last write":  {rolled(2, func(r *Rollout) { r.Behind = true }), false},
		"one pod is old":       {rolled(2, counts(1, 2, 2)), false},
		"an old pod is left":   {rolled(2, counts(2, 2, 3)), false},
		"one pod is not ready": {rolled(2, counts(2, 1, 2)), false},
		// Regression: a change was reverted at once. The Deployment's status did not count an extra pod that was left.
		"a pod is left that is not counted yet":    {rolled(2, more()), false},
		"a pod is missing that is still counted":   {rolled(2, withPods(podOf("web-2", "a", isReady))), false},
		"a pod is counted as ready that is not":    {rolled(2, withPods(podOf("web-2", "a", isReady), podOf("web-2", "b"))), false},
		"a pod is on its way out":                  {rolled(2, more(isDeleted)), true},
		"a ReplicaSet is still to take a pod back": {rolled(2, func(r *Rollout) { r.Sets[1].Generation++ }), false},
		"a pod was evicted":                        {rolled(2, more(ended(corev1.PodFailed))), true},
		"a pod has ended":                          {rolled(2, more(ended(corev1.PodSucceeded))), true},
	} {
		if got := test.rollout.Complete(); got != test.want {
			t.Errorf("%s: expected %t, got %t", name, test.want, got)
		}
	}
}

func TestOnlyTheNewestReplicaSetReportsRefusedPods(t *testing.T) {
	refuses := func(set *appsv1.ReplicaSet, status corev1.ConditionStatus) *appsv1.ReplicaSet {
		set.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: status, Message: "exceeded quota: small"}}
		return set
	}
	for name, test := range map[string]struct {
		sets []client.Object
		want string
	}{
		"no ReplicaSet":      {nil, ""},
		"no refusal":         {[]client.Object{newSet("web-1", 1)}, ""},
		"a refusal":          {[]client.Object{refuses(newSet("web-1", 1), corev1.ConditionTrue)}, "exceeded quota: small"},
		"one that is over":   {[]client.Object{refuses(newSet("web-1", 1), corev1.ConditionFalse)}, ""},
		"of an old template": {[]client.Object{refuses(newSet("web-1", 1), corev1.ConditionTrue), newSet("web-2", 2)}, ""},
	} {
		r := observe(t, append(test.sets, newDeployment(1))...)
		same(t, name, test.want, r.refused())
	}
}

// Regression: the cache caught up with a change between the read of the Deployment and the read of its pods. Ready was
// then True for pods that did not exist yet.
func TestADeploymentThatIsOlderThanOurOwnWriteIsNotTakenForTheNewOne(t *testing.T) {
	kind, writes := appsv1.SchemeGroupVersion.WithKind("Deployment"), &ensure.Applier{}
	r, written := rolled(2), newDeployment(2)
	r.Deployment.ResourceVersion, written.ResourceVersion = "7", "8"
	writes.Record(kind, written)
	if r.Recall(writes); !r.Behind || r.Complete() {
		t.Error("expected a Deployment older than our write to be behind, and its rollout not to be complete")
	}
	r.Deployment.ResourceVersion = "8"
	if r.Recall(writes); r.Behind || !r.Complete() {
		t.Error("expected the Deployment that we wrote to be what is")
	}
	none := Rollout{}
	if none.Recall(writes); none.Behind {
		t.Error("expected nothing to be behind where nothing was read")
	}
}
