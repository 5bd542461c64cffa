// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func claimOf(namespace, size string) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	return corev1ac.PersistentVolumeClaim("data", namespace).WithSpec(corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{"storage": resource.MustParse(size)})))
}

func TestDataOutlivesItsOwnerAndIsHadAgainByTheNext(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{types: []client.Object{&corev1.PersistentVolumeClaim{}}})
	child := ensure.Child{Object: claimOf(ns, "1Gi"), Data: &ensure.Data{Retain: true}}
	p.ensures(owner, child, ensure.Created, creation("persistentvolumeclaims"))
	p.ensures(owner, child, ensure.Unchanged, free)
	kept := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data"}}
	uid := current(t, kept).UID

	later := owner.DeepCopy()
	later.UID = "uid-of-a-later-owner"
	p.ensures(later, child, ensure.Applied, cost{"patch persistentvolumeclaims": 1})
	p.ensures(later, child, ensure.Unchanged, free)
	if got := current(t, kept); got.UID != uid || len(got.OwnerReferences) > 0 {
		t.Errorf("expected the same claim without an owner, got %s owned by %v", got.UID, got.OwnerReferences)
	}
}

func TestADeclarationThatRestsOnAnEarlierVersionIsAConflict(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	p.ensures(owner, settings(ns, map[string]string{"step": "1"}), ensure.Created, creation("configmaps"))
	seen := current(t, settingsOf(ns)).ResourceVersion
	next := settings(ns, map[string]string{"step": "2"})
	next.DecidedOn = seen
	p.ensures(owner, next, ensure.Applied, cost{"patch configmaps": 1})

	stale := settings(ns, map[string]string{"step": "other"})
	stale.DecidedOn = seen
	if _, err := p.Ensure(t.Context(), ensure.NewOwner(owner), stale, false); !apierrors.IsConflict(err) {
		t.Errorf("expected a conflict, got %v", err)
	}
	if got := current(t, settingsOf(ns)).Data["step"]; got != "2" {
		t.Errorf("expected the later step to stay, got %q", got)
	}
}

// A StatefulSet's claim templates cannot be changed. Its pods go on under the next one.
func TestAnOrphaningReplacementLeavesWhatTheOldOneOwned(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{types: []client.Object{&appsv1.StatefulSet{}}})
	labels := map[string]string{"app": "store"}
	set := func(size string) ensure.Child {
		// What the API server gives back of a template is neither its kind nor its version.
		template := claimOf(ns, size)
		template.Kind, template.APIVersion, template.Namespace = nil, nil, nil
		return ensure.Child{
			ReplaceOn: []string{"spec.volumeClaimTemplates"}, Orphan: true,
			Object: appsv1ac.StatefulSet("store", ns).WithSpec(appsv1ac.StatefulSetSpec().
				WithReplicas(2).WithServiceName("store").WithPodManagementPolicy("Parallel").
				WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
				WithVolumeClaimTemplates(template).
				WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).
					WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName("a").WithImage("a:1"))))),
		}
	}
	p.ensures(owner, set("1Gi"), ensure.Created, creation("statefulsets"))
	uids := func() (uids []string) {
		pods := &corev1.PodList{}
		if err := env.Client.List(t.Context(), pods, client.InNamespace(ns), client.MatchingLabels(labels)); err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods.Items {
			uids = append(uids, string(pod.UID))
		}
		return uids
	}
	check := func(ok bool) error {
		if ok {
			return nil
		}
		return errors.New("not yet")
	}
	eventually.True(t, 20*time.Second, "two pods", func() error { return check(len(uids()) == 2) })
	first := uids()
	old := current(t, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "store"}})
	ref := ensure.Ref{GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), ObjectKey: client.ObjectKeyFromObject(old)}
	p.catchesUp(ref)
	p.ensures(owner, set("1Gi"), ensure.Unchanged, free)

	eventually.True(t, 20*time.Second, "the StatefulSet is made anew", func() error {
		p.catchesUp(ref)
		result, err := p.Ensure(t.Context(), ensure.NewOwner(owner), set("2Gi"), false)
		return cmp.Or(err, check(result.Action == ensure.Unchanged))
	})
	if got := current(t, old.DeepCopy()); got.UID == old.UID {
		t.Error("expected another StatefulSet")
	}
	if got := uids(); len(got) != 2 || got[0] != first[0] || got[1] != first[1] {
		t.Errorf("expected the same pods %q, got %q", first, got)
	}
}
