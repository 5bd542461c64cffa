// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func claimOf(namespace, size string) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	return corev1ac.PersistentVolumeClaim("data", namespace).WithSpec(corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{"storage": resource.MustParse(size)})))
}

func TestDataOutlivesItsOwnerAndIsAdoptedByTheNext(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{types: []client.Object{&corev1.PersistentVolumeClaim{}}})
	child := ensure.Child{Object: claimOf(ns, "1Gi"), Keep: true, Retain: true}
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

func TestADeclarationDecidedOnAnEarlierVersionIsAConflict(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	p.ensures(owner, settings(ns, map[string]string{"step": "1"}), ensure.Created, creation("configmaps"))
	seen := current(t, settingsOf(ns)).ResourceVersion
	next := settings(ns, map[string]string{"step": "2"})
	next.DecidedOn = seen
	p.ensures(owner, next, ensure.Applied, cost{"patch configmaps": 1})

	stale := settings(ns, map[string]string{"step": "other"})
	stale.DecidedOn = seen
	if _, err := p.Ensure(t.Context(), owner, stale, false); !apierrors.IsConflict(err) {
		t.Errorf("expected a conflict, got %v", err)
	}
	if got := current(t, settingsOf(ns)).Data["step"]; got != "2" {
		t.Errorf("expected the later step to stay, got %q", got)
	}
}
