// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/memcached"
	"github.com/opcrew/opcrew/test/faults"
)

func TestMemcached(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:       memcached.Kind(),
		Namespaced: true,
		Nodes:      3,
		Primary:    &cachev1alpha1.Memcached{},
		Others: []client.Object{
			&appsv1.StatefulSet{}, &corev1.Service{}, &corev1.ConfigMap{}, &policyv1.PodDisruptionBudget{}, &corev1.Pod{},
		},
		Uncounted:  []string{"Pod"},
		Truth:      ringIsWhole,
		Invariants: []faults.Invariant{{Name: "a Memcached has one StatefulSet", Check: oneStatefulSet}},
		Mask:       maskPods,
		Workloads:  []faults.Workload{resizing, configuring},
	})
}

// resizing adds servers and removes servers, as in the tutorial article that this API comes from. It also sets the size
// to 0 for a while.
var resizing = faults.Workload{
	Name: "resizing",
	Steps: []faults.Step{
		{
			Name:  "create a ring of two",
			Do:    func(u *faults.User) { u.Apply(ring) },
			Until: ringReady(2),
		},
		{
			Name:  "grow to three",
			Do:    func(u *faults.User) { u.Patch("ring", &cachev1alpha1.Memcached{}, `{"spec":{"size":3}}`) },
			Until: ringReady(3),
		},
		{
			Name:  "shrink to none",
			Do:    func(u *faults.User) { u.Patch("ring", &cachev1alpha1.Memcached{}, `{"spec":{"size":0}}`) },
			Until: ringReady(0),
		},
		{
			Name:  "grow to one",
			Do:    func(u *faults.User) { u.Patch("ring", &cachev1alpha1.Memcached{}, `{"spec":{"size":1}}`) },
			Until: ringReady(1),
		},
	},
}

// configuring changes the memory of the servers, so that they restart. Then a user deletes the operator's Service.
var configuring = faults.Workload{
	Name: "configuring",
	Steps: []faults.Step{
		{
			Name:  "create a ring of two",
			Do:    func(u *faults.User) { u.Apply(ring) },
			Until: ringReady(2),
		},
		{
			Name:  "give it more memory",
			Do:    func(u *faults.User) { u.Patch("ring", &cachev1alpha1.Memcached{}, `{"spec":{"memory":"128Mi"}}`) },
			Until: ringReady(2),
		},
		{
			Name:  "a user deletes the Service",
			Do:    func(u *faults.User) { u.Delete("ring", &corev1.Service{}) },
			Until: ringReady(2),
		},
	},
}

const ring = `
apiVersion: cache.example.com/v1alpha1
kind: Memcached
metadata: {name: ring}
spec: {size: 2}
`

func ringReady(size int32) func(faults.View) error {
	return func(v faults.View) error {
		m := &cachev1alpha1.Memcached{}
		if err := v.Get("ring", m); err != nil {
			return err
		}
		if m.Status.ObservedGeneration != m.Generation || m.Status.ReadyReplicas != size {
			return fmt.Errorf("the status is %+v", m.Status)
		}
		for _, c := range m.Status.Conditions {
			if c.Type == "Ready" && c.Status != metav1.ConditionTrue {
				return fmt.Errorf("Ready is %s: %s", c.Status, c.Message)
			}
		}
		return ringIsWhole(v, m)
	}
}

// ringIsWhole checks that a ready Memcached is truly ready. All servers must run with the settings in the spec. The
// Service must exist, because clients use it to find the servers.
func ringIsWhole(v faults.View, object client.Object) error {
	m := object.(*cachev1alpha1.Memcached)
	set, pods := &appsv1.StatefulSet{}, &corev1.PodList{}
	for _, err := range []error{v.Get(m.Name, &corev1.Service{}), v.Get(m.Name, set), v.List(pods)} {
		if err != nil {
			return err
		}
	}
	ready := 0
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			ready++
		}
	}
	if ready != int(m.Spec.Size) || *set.Spec.Replicas != m.Spec.Size {
		return fmt.Errorf("%d of %d servers are ready", ready, m.Spec.Size)
	}
	return nil
}

func oneStatefulSet(_, after faults.View, _ faults.Event) error {
	if sets := after.Objects("StatefulSet"); len(sets) > 1 {
		return fmt.Errorf("there are two StatefulSets: %s and %s", sets[0].GetName(), sets[1].GetName())
	}
	return nil
}

// maskPods removes values that differ between runs: fields that the scheduler and the simulated kubelet set in pods,
// counters of StatefulSets, and values that depend on earlier states.
func maskPods(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case "Pod":
		unstructured.RemoveNestedField(object.Object, "spec")
		unstructured.RemoveNestedField(object.Object, "status")
	case "Memcached":
		// status.lastResize depends on which sizes the operator has seen.
		unstructured.RemoveNestedField(object.Object, "status", "lastResize")
	case "StatefulSet":
		unstructured.RemoveNestedField(object.Object, "status", "collisionCount")
	}
}
