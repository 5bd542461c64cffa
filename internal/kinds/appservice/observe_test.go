// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestAllServicesAreReadOnlyWhileANodePortIsTaken(t *testing.T) {
	for reason, want := range map[string]int{common.ReasonAsDeclared: 0, common.ReasonRefused: 0, common.ReasonNodePortTaken: 1} {
		reads := 0
		live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				reads++
				return nil
			},
		}).Build()
		a := newApp(1, withPort(common.Port{Port: 80, NodePort: new(int32(30002))}))
		a.Status.Conditions = []metav1.Condition{{Type: appv1.AppServiceChildrenReady, Reason: reason}}
		r := &reconciler{Tools: &kit.Tools{Client: fake.NewFakeClient(), Live: live}}
		if _, err := r.Observe(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if reads != want {
			t.Errorf("%s: expected all Services to be read %d times, got %d", reason, want, reads)
		}
	}
}

func TestAReadThatFailedIsAnErrorAndNoFact(t *testing.T) {
	failing := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("timeout")
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("timeout")
		},
	}).Build()
	a := newApp(1)
	if _, err := (&reconciler{Tools: &kit.Tools{Client: failing}}).Observe(t.Context(), a); err == nil {
		t.Error("expected a Deployment that cannot be read to be an error")
	}
	a.Status.Conditions = []metav1.Condition{{Type: appv1.AppServiceChildrenReady, Reason: common.ReasonNodePortTaken}}
	if _, err := (&reconciler{Tools: &kit.Tools{Client: fake.NewFakeClient(), Live: failing}}).Observe(t.Context(), a); err == nil {
		t.Error("expected Services that cannot be read to be an error")
	}
}

func TestAServiceOfOurNameElsewhereIsAHolderToo(t *testing.T) {
	theirs := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, NodePort: 30002}}}}
	theirs.Namespace, theirs.Name = "other", "web"
	a := newApp(1, withPort(common.Port{Port: 80, NodePort: new(int32(30002))}))
	a.Status.Conditions = []metav1.Condition{{Type: appv1.AppServiceChildrenReady, Reason: common.ReasonNodePortTaken}}
	r := &reconciler{Tools: &kit.Tools{Client: fake.NewFakeClient(), Live: fake.NewFakeClient(theirs)}}
	f, err := r.Observe(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the holders", "nodePort 30002 is in use in another namespace", f.nodePorts.Holders)
}
