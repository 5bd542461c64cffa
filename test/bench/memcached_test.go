// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/memcached"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// children and statuses are what one Memcached may cost until it is Ready.
const (
	children = 4
	statuses = 2
)

func TestAMemcachedCostsItsChildrenAndTwoStatuses(t *testing.T) {
	env.Nodes(t, 3+2**objects/100, testenv.NodeSpec{Prefix: "cache"}) // of 110 pods each, for both sides
	config, user := account(t, operator), testenv.ServiceAccountUser(namespace, operator)
	ns := env.Namespace(t)
	before := heap()
	stop := start(t, config, memcached.Kind(), ns)
	env.Settle(t, user, time.Second, time.Minute)
	mark, begin := env.Audit.Mark(t), time.Now()
	concurrently(t, *objects, func(ctx context.Context, i int) error { return env.Client.Create(ctx, object(ns, i)) })
	list := &cachev1alpha1.MemcachedList{}
	eventually.True(t, 4*time.Minute, "every Memcached is Ready", func() error {
		if err := env.Client.List(t.Context(), list, client.InNamespace(ns)); err != nil {
			return err
		}
		if n := len(slices.DeleteFunc(slices.Clone(list.Items), ready)); n > 0 {
			return fmt.Errorf("%d are not", n)
		}
		return nil
	})
	took := time.Since(begin)
	env.Settle(t, user, time.Second, time.Minute)
	writes := env.Audit.Since(t, mark).By(user).Writes().Counted()
	if got, most := len(writes), (children+statuses)**objects; got > most {
		t.Errorf("expected %d writes at most, %d an object, got %d: %v", most, children+statuses, got, writes.Tally())
	}
	used := heap() - before
	floor := bareMemcacheds(t, list.Items)
	t.Logf("Memcached: %d objects in %s, bare client %s: ratio %.2f; writes %v; heap %.0f KiB an object; create to Ready p50 %s, p99 %s",
		*objects, took.Round(time.Millisecond), floor.Round(time.Millisecond), took.Seconds()/floor.Seconds(), writes.Tally(),
		used*1024/float64(*objects), percentile(list.Items, 50), percentile(list.Items, 99))
	resting(t, config, memcached.Kind(), stop, ns)
}

func object(namespace string, i int) *cachev1alpha1.Memcached {
	m := &cachev1alpha1.Memcached{Spec: cachev1alpha1.MemcachedSpec{Size: 1}}
	m.Namespace, m.Name = namespace, fmt.Sprintf("m%04d", i)
	return m
}

func ready(m cachev1alpha1.Memcached) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, cachev1alpha1.MemcachedReady)
}

// percentile is of the time from an object's creation to its Ready, which the API keeps
// to the second.
func percentile(items []cachev1alpha1.Memcached, p int) time.Duration {
	var times []time.Duration
	for _, m := range items {
		c := meta.FindStatusCondition(m.Status.Conditions, cachev1alpha1.MemcachedReady)
		times = append(times, c.LastTransitionTime.Sub(m.CreationTimestamp.Time))
	}
	slices.Sort(times)
	return times[min(len(times)-1, len(times)*p/100)]
}

// bareMemcacheds makes the same objects in another namespace, with their children and two
// statuses each, and waits for the pods, with nothing around it.
func bareMemcacheds(t *testing.T, made []cachev1alpha1.Memcached) time.Duration {
	t.Helper()
	c, ns := env.ClientFor(t, account(t, bare)), env.Namespace(t)
	begin := time.Now()
	concurrently(t, len(made), func(ctx context.Context, i int) error { return bareMemcached(ctx, c, ns, made[i]) })
	eventually.True(t, 4*time.Minute, "every server of the bare client is ready", func() error {
		sets := &appsv1.StatefulSetList{}
		if err := env.Client.List(t.Context(), sets, client.InNamespace(ns)); err != nil {
			return err
		}
		for _, set := range sets.Items {
			if set.Status.ReadyReplicas < 1 {
				return fmt.Errorf("%s is not", set.Name)
			}
		}
		return nil
	})
	return time.Since(begin)
}

// bareMemcached copies what the operator made of one object.
func bareMemcached(ctx context.Context, c client.Client, namespace string, m cachev1alpha1.Memcached) error {
	from := m.Namespace
	copied := object(namespace, 0)
	copied.Name = m.Name
	if err := c.Create(ctx, copied); err != nil {
		return err
	}
	for _, child := range []client.Object{&corev1.Service{}, &corev1.ConfigMap{}, &appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{}} {
		name := m.Name
		if _, list := child.(*corev1.ConfigMap); list {
			name += "-servers"
		}
		if err := env.Client.Get(ctx, client.ObjectKey{Namespace: from, Name: name}, child); err != nil {
			return err
		}
		child.SetNamespace(namespace)
		child.SetResourceVersion("")
		child.SetUID("")
		child.SetOwnerReferences(nil)
		child.SetManagedFields(nil)
		if s, ok := child.(*corev1.Service); ok {
			s.Spec.ClusterIPs, s.Spec.ClusterIP = nil, corev1.ClusterIPNone
		}
		if err := c.Create(ctx, child); err != nil {
			return err
		}
	}
	for i := range statuses {
		before := copied.DeepCopy()
		copied.Status = m.Status
		copied.Status.ReadyReplicas = int32(i)
		copied.Status.Conditions = slices.Clone(m.Status.Conditions)
		copied.Status.Conditions[0].LastTransitionTime = metav1.Now()
		if err := c.Status().Patch(ctx, copied, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	return nil
}
