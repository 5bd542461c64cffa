// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/guard"
)

func ownedBy(uid types.UID, name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: uid, Controller: new(true)}}
}

func TestAChildIsOwnedByItsControllerOrElseByItsLabel(t *testing.T) {
	label := func(uid string) map[string]string { return map[string]string{"opcrew.io/owner": uid} }
	for name, test := range map[string]struct {
		meta metav1.ObjectMeta
		ours bool
	}{
		"we control it":                             {metav1.ObjectMeta{OwnerReferences: ownedBy("uid-of-shop", "shop")}, true},
		"our label, no controller":                  {metav1.ObjectMeta{Labels: label("uid-of-shop")}, true},
		"our label, another controller":             {metav1.ObjectMeta{Labels: label("uid-of-shop"), OwnerReferences: ownedBy("other", "x")}, false},
		"neither":                                   {metav1.ObjectMeta{}, false},
		"the label of an earlier owner of our name": {metav1.ObjectMeta{Labels: label("uid-of-last-years-shop")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := guard.Owns(shop(), &corev1.ConfigMap{ObjectMeta: test.meta}); got != test.ours {
				t.Errorf("ours: %t, expected %t", got, test.ours)
			}
		})
	}
}

func TestAnObjectOfAnotherOwnerIsNamedWithWhatToDo(t *testing.T) {
	ref := mustDeclare(t, shop(), settings(nil)).Ref
	helm := map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	for name, test := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"by its controller": {metav1.ObjectMeta{Labels: helm, OwnerReferences: ownedBy("u", "front")}, "belongs to Deployment front;"},
		"by its label":      {metav1.ObjectMeta{Labels: helm}, "belongs to Helm;"},
		"by nothing":        {metav1.ObjectMeta{}, "has no owner;"},
	} {
		t.Run(name, func(t *testing.T) {
			got := takenBy(ref, &corev1.ConfigMap{ObjectMeta: test.meta})
			if !strings.HasPrefix(got, "ConfigMap demo/settings already exists and "+test.want) || !strings.Contains(got, "delete it, or give this object another name") {
				t.Errorf("message %q, expected it to name the object, its owner (%s) and what to do", got, test.want)
			}
		})
	}
}

func TestARefusalIsDistinguishedFromTroubleThatPasses(t *testing.T) {
	kind := schema.GroupResource{Resource: "configmaps"}
	for name, test := range map[string]struct {
		err     error
		refused bool
	}{
		"a missing right or a quota": {apierrors.NewForbidden(kind, "x", nil), true},
		"an invalid value":           {apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", nil), true},
		"a bad request":              {apierrors.NewBadRequest("x"), true},
		"too much data":              {apierrors.NewRequestEntityTooLargeError("x"), true},
		"a conflict":                 {apierrors.NewConflict(kind, "x", nil), false},
		"not found":                  {apierrors.NewNotFound(kind, "x"), false},
		"a server in trouble":        {apierrors.NewInternalError(errors.New("x")), false},
		"a server under load":        {apierrors.NewTooManyRequests("x", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Refused(test.err); got != test.refused {
				t.Errorf("refused: %t, expected %t", got, test.refused)
			}
		})
	}
}

func TestTheMessageAboutAChildWithoutTheLabelSaysWhatMayBeDeleted(t *testing.T) {
	held := settings(nil)
	held.Keep = true
	for want, child := range map[string]Child{"; put the label back, or delete the ConfigMap": settings(nil), "; put the label back": held} {
		in := mustDeclare(t, shop(), child)
		if got := in.whyStripped(); !strings.HasPrefix(got, "ConfigMap demo/settings has lost the label app.kubernetes.io/managed-by: opcrew, ") || !strings.HasSuffix(got, want) {
			t.Errorf("expected the message to name the child and to end in %q, got %q", want, got)
		}
	}
}
