// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// storeName is a StatefulSet name of the maximum length with which pods can still be created.
const storeName = "store-with-a-name-as-long-as-one-of-its-kind-can-be"

// store declares a StatefulSet with a claim template, which cannot be changed later.
func store(ns, size, image string) ensure.Child {
	// The API server returns claim templates without kind and version.
	template, labels := claimOf(ns, size), map[string]string{"app": "store"}
	template.Kind, template.APIVersion, template.Namespace = nil, nil, nil
	return ensure.Child{
		ReplaceOn: []string{"spec.volumeClaimTemplates"}, Orphan: true, Pin: &ensure.Pin{Path: "spec.template", Key: "settings"},
		Object: appsv1ac.StatefulSet(storeName, ns).WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(2).WithServiceName("store").WithPodManagementPolicy("Parallel").
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithVolumeClaimTemplates(template).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).
				WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName("a").WithImage(image))))),
	}
}

// opcrew replaces a StatefulSet but not its pods: the new StatefulSet adopts them. The new StatefulSet keeps the
// template of these pods, even if a new version of the operator declares another template.
func TestAnOrphaningReplacementLeavesWhatTheOldOneOwned(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{types: []client.Object{&appsv1.StatefulSet{}}})
	p.ensures(owner, store(ns, "1Gi", "a:1"), ensure.Created, creation("statefulsets"))
	eventually.True(t, eventually.Long, "two pods", func() error { return whether(len(podUIDs(t, ns)) == 2) })
	first := podUIDs(t, ns)
	old := current(t, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: storeName}})
	ref := ensure.Ref{GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), ObjectKey: client.ObjectKeyFromObject(old)}
	p.catchesUp(ref)
	p.ensures(owner, store(ns, "1Gi", "a:1"), ensure.Unchanged, free)
	p.ensures(owner, store(ns, "1Gi", "a:2"), ensure.Unchanged, free)

	eventually.True(t, eventually.Long, "the StatefulSet is recreated", func() error {
		p.catchesUp(ref)
		result, err := p.Ensure(t.Context(), owner, store(ns, "2Gi", "a:2"), false)
		return cmp.Or(err, whether(result.Action == ensure.Unchanged))
	})
	got := current(t, old.DeepCopy())
	if image := got.Spec.Template.Spec.Containers[0].Image; got.UID == old.UID || image != "a:1" {
		t.Errorf("expected another StatefulSet of the template that its pods have, got one of %s", image)
	}
	if got := podUIDs(t, ns); !slices.Equal(got, first) {
		t.Errorf("expected the same pods %q, got %q", first, got)
	}
}

func whether(ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("not yet")
}

func podUIDs(t *testing.T, ns string) (uids []string) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := env.Client.List(t.Context(), pods, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		uids = append(uids, string(pod.UID))
	}
	return uids
}
