// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

var someTime = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// newMemcached returns a Memcached of the given size. Its options change fields.
func newMemcached(size int32) *cachev1alpha1.Memcached {
	m := &cachev1alpha1.Memcached{}
	m.Namespace, m.Name, m.UID, m.Generation = "shop", "web", "uid-of-web", 1
	m.Spec.Size = size
	return m
}

// manifest reads a Memcached from a YAML file, as a user would write it.
func manifest(t *testing.T, file string) *cachev1alpha1.Memcached {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	m := &cachev1alpha1.Memcached{}
	if err := yaml.UnmarshalStrict(raw, m); err != nil {
		t.Fatal(err)
	}
	m.Namespace = "shop"
	return m
}

// factOption changes what a reconciler has read about a Memcached.
type factOption func(*facts)

// observed returns what a reconciler reads about a StatefulSet with the given number of replicas. All of them are
// ready.
func observed(replicas int32, options ...factOption) facts {
	f := facts{Members: workload.Members{Set: newSet(replicas), Pods: map[string]*corev1.Pod{}}}
	for i := range replicas {
		pod := newPod(fmt.Sprint("web-", i))
		f.Pods[pod.Name] = pod
	}
	for _, option := range options {
		option(&f)
	}
	return f
}

func newSet(replicas int32) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{}
	set.Namespace, set.Name, set.UID, set.Generation = "shop", "web", "uid-of-set", 3
	set.CreationTimestamp = metav1.NewTime(someTime)
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(newMemcached(replicas), cachev1alpha1.GroupVersion.WithKind("Memcached"))}
	set.Spec.Replicas = &replicas
	set.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: 3, Replicas: replicas, UpdatedReplicas: replicas, CurrentRevision: "web-1", UpdateRevision: "web-1",
	}
	return set
}

// newPod returns a ready pod of the StatefulSet.
func newPod(name string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "shop", name, types.UID("uid-of-"+name)
	pod.Labels = selector(newMemcached(0))
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(newSet(0), appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

func lacks(names ...string) factOption {
	return func(f *facts) {
		for _, name := range names {
			delete(f.Pods, name)
		}
	}
}

func has(name string) factOption { return func(f *facts) { f.Pods[name] = newPod(name) } }

// counts sets the number of pods in the StatefulSet's status.
func counts(pods int32) factOption { return func(f *facts) { f.Set.Status.Replicas = pods } }

func starts(name string) factOption {
	return func(f *facts) { f.Pods[name].Status.Conditions = nil }
}

func cannotPull(name string) factOption {
	return func(f *facts) {
		f.Pods[name].Status.Conditions = nil
		f.Pods[name].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: appName, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"},
		}}}
	}
}

func isRefused(words string) factOption { return func(f *facts) { f.Refusal.Words = words } }

// hangs adds a pod that is being deleted but stays, because its node does not respond.
func hangs(name string) factOption {
	return func(f *facts) {
		pod := newPod(name)
		pod.DeletionTimestamp, pod.Spec.NodeName = &metav1.Time{Time: someTime}, "node2"
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		}
		f.Pods[name] = pod
		f.Set.Status.Replicas++
	}
}

func isUpdated(n int32) factOption { return func(f *facts) { f.Set.Status.UpdatedReplicas = n } }

func isUnseen(f *facts) { f.Set.Generation++ }

// outcome returns the outcome of a plan with one result, for a child of the given kind.
func outcome(kind string, action ensure.Action, message string) kit.Outcome {
	result := ensure.Result{Action: action, Message: message}
	result.Ref.Kind = kind
	return kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}, result}}
}

// reported sets the status of an object and returns the object.
func reported(m *cachev1alpha1.Memcached, f facts, done kit.Outcome) *cachev1alpha1.Memcached {
	reportAt(m, f, done, someTime)
	return m
}

func conditionOf(m *cachev1alpha1.Memcached, kind string) string {
	c := meta.FindStatusCondition(m.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// same fails the test if two values differ. what names the value in the error message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}
