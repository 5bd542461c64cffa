// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func named(namespace, name string) ensure.Child {
	return ensure.Child{Object: corev1ac.ConfigMap(name, namespace).WithData(map[string]string{"name": name})}
}

// left returns the ConfigMaps that still exist in the namespace.
func left(t *testing.T, namespace string) []string {
	t.Helper()
	list := &corev1.ConfigMapList{}
	if err := env.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		if item.Name != "kube-root-ca.crt" && item.DeletionTimestamp == nil {
			names = append(names, item.Name)
		}
	}
	slices.Sort(names)
	return names
}

func TestOnlyOurUndeclaredChildrenArePruned(t *testing.T) {
	ns := env.Namespace(t)
	owner, other := newOwner(t, ns, "owner"), newOwner(t, ns, "other")
	p := start(t, ns, setup{})
	for _, name := range []string{"keep", "old-1", "old-2", "going"} {
		p.ensures(owner, named(ns, name), ensure.Created, creation("configmaps"))
	}
	p.ensures(other, named(ns, "of-other"), ensure.Created, creation("configmaps"))
	// This ConfigMap has opcrew's label managed-by, as if a user had copied a child, but it belongs to no owner.
	foreign := settingsOf(ns)
	foreign.Name, foreign.Labels = "foreign", map[string]string{"app.kubernetes.io/managed-by": "opcrew"}
	going := settingsOf(ns)
	going.Name = "going"
	create(t, foreign)
	edit(t, "kubectl-edit", going, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	if err := env.Client.Delete(t.Context(), going); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"going", "foreign"} {
		p.catchesUp(ensure.Ref{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), ObjectKey: client.ObjectKey{Namespace: ns, Name: name}})
	}
	declared := []ensure.Child{named(ns, "keep"), named(ns, "not-there-yet")}
	kinds := []client.ObjectList{&corev1.ServiceList{}, &corev1.ConfigMapList{}}

	p.spends(free, func() {
		results, err := p.Prune(t.Context(), owner, declared, kinds, nil, true)
		if err != nil || len(results) != 2 || results[0].Action != ensure.Held || results[1].Action != ensure.Held {
			t.Errorf("held back: %v (%v), expected two", results, err)
		}
	})
	p.spends(cost{"delete configmaps": 2}, func() {
		results, err := p.Prune(t.Context(), owner, declared, kinds, nil, false)
		if err != nil || len(results) != 2 || results[0].Action != ensure.Pruned {
			t.Errorf("pruned: %v (%v), expected old-1 and old-2", results, err)
		}
	})
	want := []string{"foreign", "keep", "of-other", "other", "owner"}
	if diff := cmp.Diff(want, left(t, ns)); diff != "" {
		t.Errorf("what is left (-expected +got):\n%s", diff)
	}
	edit(t, "kubectl-edit", going, `{"metadata":{"finalizers":null}}`)
}

func TestAChildThatWasRecreatedIsNotPrunedForItsPredecessor(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), (*process)(nil)
	p = start(t, ns, setup{intercept: interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			if err := env.Client.Delete(ctx, object); err != nil {
				return err
			}
			create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "old"}})
			return c.Delete(ctx, object, opts...)
		},
	}})
	p.ensures(owner, named(ns, "old"), ensure.Created, creation("configmaps"))
	results, err := p.Prune(t.Context(), owner, nil, []client.ObjectList{&corev1.ConfigMapList{}}, nil, false)
	if !apierrors.IsConflict(err) {
		t.Errorf("%v (%v), expected a conflict: it is another object now", results, err)
	}
	if names := left(t, ns); !slices.Contains(names, "old") {
		t.Errorf("left are %v, expected the new object among them", names)
	}
}

func TestAChildThatHasChangedSinceItWasLookedAtIsNotPruned(t *testing.T) {
	ns := env.Namespace(t)
	owner := newOwner(t, ns, "owner")
	p := start(t, ns, setup{intercept: interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			edit(t, "kubectl-edit", object, `{"metadata":{"annotations":{"example.com/needed":"yes"}}}`)
			return c.Delete(ctx, object, opts...)
		},
	}})
	p.ensures(owner, named(ns, "old"), ensure.Created, creation("configmaps"))
	results, err := p.Prune(t.Context(), owner, nil, []client.ObjectList{&corev1.ConfigMapList{}}, nil, false)
	if !apierrors.IsConflict(err) {
		t.Errorf("%v (%v), expected a conflict: what it is now may be a reason to stay", results, err)
	}
	if names := left(t, ns); !slices.Contains(names, "old") {
		t.Errorf("left are %v, expected the changed object among them", names)
	}
}

func TestPruningAnObjectThatIsGoneSucceeds(t *testing.T) {
	ns := env.Namespace(t)
	events := &gate{}
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{events: events})
	p.ensures(owner, named(ns, "old"), ensure.Created, creation("configmaps"))
	events.close()
	defer events.open()
	for range 2 {
		if _, err := p.Prune(t.Context(), owner, nil, []client.ObjectList{&corev1.ConfigMapList{}}, nil, false); err != nil {
			t.Errorf("error %v, expected none: it is gone, which is what was wanted", err)
		}
	}
}
