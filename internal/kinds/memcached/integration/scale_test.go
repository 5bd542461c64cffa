// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
)

func TestScaleUpDownToZeroAndBack(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	before := s.children()
	from := int32(2)
	for _, step := range []struct{ to, moved int32 }{{4, 50}, {3, 25}, {0, 100}, {3, 100}, {4, 25}} {
		mark := env.Audit.Mark(t)
		s.scale(step.to)
		m := s.awaitReady(int(step.to))
		if got, want := m.Status.LastResize, (cachev1alpha1.Resize{From: from, To: step.to, KeysMovedPercent: step.moved}); got == nil || *got != want {
			t.Errorf("from %d to %d: expected status.lastResize %+v, got %+v", from, step.to, want, got)
		}
		writes := env.Settled(t, mark).Writes()
		t.Logf("from %d to %d: %v", from, step.to, writes.Tally())
		if tally := writes.Tally(); tally["patch statefulsets"] != 1 || tally["patch configmaps"] != 1 || len(tally) != 3 {
			t.Errorf("from %d to %d: expected one write of StatefulSet and ConfigMap each, and the status, got:\n%s", from, step.to, writes)
		}
		scale := &autoscalingv1.Scale{}
		if err := env.Client.SubResource("scale").Get(t.Context(), m, scale); err != nil {
			t.Fatal(err)
		}
		if scale.Status.Replicas != step.to || !strings.Contains(scale.Status.Selector, "app.kubernetes.io/instance=web") {
			t.Errorf("expected the scale subresource to show %d and a selector, got %+v", step.to, scale.Status)
		}
		from = step.to
	}
	for child, uid := range before {
		if !strings.HasPrefix(child, "Pod ") && s.children()[child] != uid {
			t.Errorf("expected %s to be the same object after all changes of size", child)
		}
	}
}

// running returns how many pods currently run an image.
func (s *shop) running(image string) int {
	s.Helper()
	pods := &corev1.PodList{}
	if err := env.Client.List(s.Context(), pods, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	return len(slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.Containers[0].Image != image }))
}

// Regression test: after a change of the spec, Ready stayed True for a moment although the change had not been applied.
func TestReadyIsNeverTrueOfAnImageThatIsNotThereYet(t *testing.T) {
	s := newShop(t)
	s.create(3)
	s.awaitReady(3)
	// Wait until opcrew is idle. opcrew postpones a status write that comes soon after another one, so the test might
	// not see the status that it checks.
	env.Settled(t, env.Audit.Mark(t))
	watch, err := env.Client.Watch(t.Context(), &cachev1alpha1.MemcachedList{}, client.InNamespace(s.ns))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	s.edit(withImage("memcached:1.6.39"))
	for event := range watch.ResultChan() {
		m, ok := event.Object.(*cachev1alpha1.Memcached)
		if !ok || m.Generation < 2 || m.Status.ObservedGeneration < m.Generation {
			continue
		}
		ready := meta.IsStatusConditionTrue(m.Status.Conditions, cachev1alpha1.MemcachedReady)
		if n := s.running("memcached:1.6.39"); ready && n != 3 {
			t.Fatalf("Ready is True of the new image, and %d of 3 servers run it", n)
		}
		if ready {
			break
		}
	}
	s.awaitReady(3)
}
