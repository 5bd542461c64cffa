// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// One `kubectl apply` may create a namespace and its first MicroServiceDeploy. Each kind has a watch of its own, so the
// cache may show the MicroServiceDeploy first. The reconcile for it finds no namespace and ends.
func TestANamespaceThatTheCacheShowsAfterItsFirstInstanceIsReconciled(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := customv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		cached []client.Object
		want   bool
	}{
		"no instance yet":               {nil, false},
		"an instance":                   {[]client.Object{newInstance()}, true},
		"an instance of another tenant": {[]client.Object{newInstance(func(m *customv1.MicroServiceDeploy) { m.Namespace = "other" })}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reconciler{Tools: &kit.Tools{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.cached...).Build()}}
			ns := &corev1.Namespace{}
			ns.Name = "shop"
			if got := r.occupied().Create(event.CreateEvent{Object: ns}); got != test.want {
				t.Errorf("expected the new namespace to be reconciled: %v, got %v", test.want, got)
			}
		})
	}
}

// Regression: a user ended the pause of a namespace, and its instances kept waiting for their credentials.
func TestTheEndOfAPauseWakesANamespaceAndOtherAnnotationsDoNot(t *testing.T) {
	namespace := func(labels, annotations map[string]string) *corev1.Namespace {
		ns := &corev1.Namespace{}
		ns.Labels, ns.Annotations = labels, annotations
		return ns
	}
	paused := namespace(nil, map[string]string{common.PausedAnnotation: "true"})
	for name, test := range map[string]struct {
		now  *corev1.Namespace
		want bool
	}{
		"the end of the pause": {namespace(nil, nil), true},
		"a label":              {namespace(map[string]string{"team": "a"}, paused.Annotations), true},
		"another annotation":   {namespace(nil, map[string]string{common.PausedAnnotation: "true", "note": "x"}), false},
	} {
		if got := labelsOrPauseChanged.Update(event.UpdateEvent{ObjectOld: paused, ObjectNew: test.now}); got != test.want {
			t.Errorf("%s: expected it to wake: %v, got %v", name, test.want, got)
		}
	}
}
