// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kit"
)

func isHeld(d *opsv1.Diva) { d.Finalizers = []string{clientsFinalizer} }

// adopted makes the StatefulSet the controller of all client pods.
func adopted(f *facts) {
	for _, pod := range f.clients.Pods {
		pod.OwnerReferences = []metav1.OwnerReference{{UID: f.clients.Set.UID, Controller: new(true)}}
	}
}

func TestTheObjectIsHeldWhileItsClientsMayHaveNoOwner(t *testing.T) {
	grown := func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = "3Gi" }
	announced := []factOption{adopted, asks("wi-ops-client-0", "3Gi"), asks("wi-ops-client-1", "3Gi")}
	going := func(f *facts) { f.clients.Set.DeletionTimestamp = &metav1.Time{Time: noon} }
	gone := func(f *facts) { f.clients.Set = nil }
	for what, test := range map[string]struct {
		options []divaOption
		facts   []factOption
		want    string
	}{
		"nothing grows":                       {nil, []factOption{adopted}, ""},
		"there is no StatefulSet yet":         {nil, []factOption{gone}, ""},
		"claims are being resized":            {[]divaOption{grown}, []factOption{adopted}, ""},
		"it is about to be recreated":         {[]divaOption{grown}, announced, clientsFinalizer},
		"the old one goes":                    {[]divaOption{isHeld}, []factOption{adopted, going}, clientsFinalizer},
		"the old one went":                    {[]divaOption{isHeld}, []factOption{gone}, clientsFinalizer},
		"the new one has not adopted any":     {[]divaOption{isHeld}, nil, clientsFinalizer},
		"the cache has its pods as they were": {[]divaOption{isHeld}, []factOption{adopted, func(f *facts) { delete(f.clients.Pods, "ops-client-1") }}, clientsFinalizer},
		"the new one has all":                 {[]divaOption{isHeld}, []factOption{adopted}, ""},
	} {
		d := newDiva(2, test.options...)
		plan := planned(d, observed(t, newDiva(2), settled(t), test.facts...))
		same(t, what, test.want, plan.Finalizer)
		same(t, what+": it is let go", test.want == "", plan.Release == clientsFinalizer)
	}
}

func TestAnObjectThatGoesTakesTheClientsWithoutAnOwner(t *testing.T) {
	going := func(d *opsv1.Diva) { d.DeletionTimestamp = &metav1.Time{Time: noon} }
	keeping := func(d *opsv1.Diva) { d.Finalizers = append(d.Finalizers, metav1.FinalizerOrphanDependents) }
	for what, test := range map[string]struct {
		options       []divaOption
		set           func(f *facts)
		step, release bool
	}{
		"it was not held":               {[]divaOption{going}, func(*facts) {}, false, false},
		"the StatefulSet still goes":    {[]divaOption{going, isHeld}, func(f *facts) { f.clients.Set.DeletionTimestamp = &metav1.Time{Time: noon} }, false, false},
		"the StatefulSet went":          {[]divaOption{going, isHeld}, func(f *facts) { f.clients.Set = nil }, true, true},
		"the next one is there":         {[]divaOption{going, isHeld}, func(*facts) {}, true, true},
		"the user wants its pods to be": {[]divaOption{going, isHeld, keeping}, func(f *facts) { f.clients.Set = nil }, false, true},
	} {
		d := newDiva(2, test.options...)
		plan := planned(d, observed(t, d, settled(t), test.set))
		same(t, what, []any{test.step, test.release, 0}, []any{plan.Step != nil, plan.Release != "", len(plan.Children)})
	}
}

func TestOnlyPodsThatTheStatefulSetLeftBehindAreTaken(t *testing.T) {
	d := newDiva(3)
	pod := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		p := newPod(name, "client")
		p.Labels = names.Clients(d).Labels
		p.Labels[appsv1.StatefulSetPodNameLabel] = name
		change(p)
		return p
	}
	scheme := fake.NewClientBuilder().WithObjects(
		pod("ops-client-0", func(*corev1.Pod) {}),
		pod("ops-client-1", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{UID: "uid-of-set", Name: "ops-client", Controller: new(true)}}
		}),
		pod("ops-client-2", func(p *corev1.Pod) { delete(p.Labels, appsv1.StatefulSetPodNameLabel) }),
		pod("their-client-0", func(p *corev1.Pod) { p.Labels["diva-client"] = "theirs" }),
	).Build()
	r := &reconciler{Tools: &kit.Tools{Client: scheme, Live: scheme}}
	if err := r.deleteOrphans(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	left, names := &corev1.PodList{}, []string(nil)
	if err := scheme.List(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	for _, p := range left.Items {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	same(t, "pods that stay", []string{"ops-client-1", "ops-client-2", "their-client-0"}, names)
}
