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
