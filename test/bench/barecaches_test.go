// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/api/common"
)

// blueprint is all that opcrew wrote for one object, as it declared it.
type blueprint struct {
	object  *cachev1alpha1.Memcached
	service *corev1ac.ServiceApplyConfiguration
	list    *corev1ac.ConfigMapApplyConfiguration
	set     *appsv1ac.StatefulSetApplyConfiguration
	budget  *policyv1ac.PodDisruptionBudgetApplyConfiguration
}

// bareMemcacheds makes in another namespace what opcrew made in one: the same objects,
// the same applies, two statuses each. Then it waits for the pods.
func bareMemcacheds(t *testing.T, tb *table, from string) floor {
	t.Helper()
	plans, ns, begun := make([]*blueprint, *objects), env.Namespace(t), &beginnings{}
	concurrently(t, *objects, func(ctx context.Context, i int) (err error) {
		plans[i], err = readBlueprint(ctx, from, i)
		return err
	})
	ready := observe(t, &appsv1.StatefulSetList{}, func(set client.Object) bool {
		return set.(*appsv1.StatefulSet).Status.ReadyReplicas > 0
	}, client.InNamespace(ns))
	defer ready.stop()
	got := measureFloor(t, func(c client.Client) {
		// All objects first: they are there, too, when opcrew begins with the first child.
		made := createCaches(t, c, ns, begun)
		concurrently(t, *objects, func(ctx context.Context, i int) error { return plans[i].build(ctx, c, made[i]) })
		if _, ok := ready.done(*objects); !ok {
			t.Fatal("expected every server of the bare client to be ready")
		}
	})
	tb.time(cacheTime, bare, got.took, got.took)
	tb.set(cacheWrites, bare, "%.2f", float64(got.writes-*objects)/float64(*objects)) // without the objects themselves
	tb.set(cacheReady, bare, "%s", ready.since(begun.at))
	return got
}

// readBlueprint reads what opcrew owns of the children of an object.
func readBlueprint(ctx context.Context, from string, i int) (*blueprint, error) {
	plan, key := &blueprint{object: memcached(from, i)}, client.ObjectKeyFromObject(memcached(from, i))
	service, list, set, budget := &corev1.Service{}, &corev1.ConfigMap{}, &appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{}
	err := firstOf(
		func() error { return env.Client.Get(ctx, key, plan.object) },
		func() error { return env.Client.Get(ctx, key, service) },
		func() error { return env.Client.Get(ctx, key, set) },
		func() error { return env.Client.Get(ctx, key, budget) },
		func() error {
			return env.Client.Get(ctx, client.ObjectKey{Namespace: from, Name: key.Name + "-servers"}, list)
		},
		func() (err error) { plan.service, err = corev1ac.ExtractService(service, common.Name); return },
		func() (err error) { plan.list, err = corev1ac.ExtractConfigMap(list, common.Name); return },
		func() (err error) { plan.set, err = appsv1ac.ExtractStatefulSet(set, common.Name); return },
		func() (err error) {
			plan.budget, err = policyv1ac.ExtractPodDisruptionBudget(budget, common.Name)
			return
		},
	)
	return plan, err
}

// build makes for a copy of the object, in another namespace, what was made for it.
func (b *blueprint) build(ctx context.Context, c client.Client, copied *cachev1alpha1.Memcached) error {
	ns := copied.Namespace
	owner := metav1ac.OwnerReference().WithAPIVersion(cachev1alpha1.GroupVersion.String()).WithKind("Memcached").
		WithName(copied.Name).WithUID(copied.UID).WithController(true).WithBlockOwnerDeletion(true)
	b.service.OwnerReferences, b.list.OwnerReferences, b.set.OwnerReferences, b.budget.OwnerReferences = nil, nil, nil, nil
	for _, child := range []runtime.ApplyConfiguration{
		b.service.WithNamespace(ns).WithOwnerReferences(owner),
		b.list.WithNamespace(ns).WithOwnerReferences(owner),
		b.set.WithNamespace(ns).WithOwnerReferences(owner),
		b.budget.WithNamespace(ns).WithOwnerReferences(owner),
	} {
		if err := c.Apply(ctx, child, client.FieldOwner(common.Name), client.ForceOwnership); err != nil {
			return err
		}
	}
	return b.report(ctx, c, copied)
}

// report writes the status twice, as small and as whole as opcrew does.
func (b *blueprint) report(ctx context.Context, c client.Client, copied *cachev1alpha1.Memcached) error {
	for i := range statuses {
		before := copied.DeepCopy()
		b.object.Status.DeepCopyInto(&copied.Status)
		copied.Status.ReadyReplicas = int32(i)
		copied.Status.Conditions = slices.Clone(b.object.Status.Conditions)
		copied.Status.Conditions[0].LastTransitionTime = metav1.Now()
		if err := c.Status().Patch(ctx, copied, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	return nil
}

func firstOf(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
