// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
)

// podNoise changes a condition of every pod that is nobody's business.
func podNoise(t *testing.T, ns string) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := env.Client.List(t.Context(), pods, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	noise := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"example.com/Noise","status":"True","message":%q}]}}`, time.Now().Format(time.RFC3339Nano))
	concurrently(t, len(pods.Items), func(ctx context.Context, i int) error {
		return env.Client.Status().Patch(ctx, &pods.Items[i], client.RawPatch(types.StrategicMergePatchType, noise))
	})
}

// createCaches makes the objects and remembers when.
func createCaches(t *testing.T, c client.Client, ns string, begun *beginnings) []*cachev1alpha1.Memcached {
	t.Helper()
	made := make([]*cachev1alpha1.Memcached, *objects)
	concurrently(t, *objects, func(ctx context.Context, i int) error {
		made[i] = memcached(ns, i)
		begun.now(made[i].Name)
		return c.Create(ctx, made[i])
	})
	return made
}

func memcached(namespace string, i int) *cachev1alpha1.Memcached {
	m := &cachev1alpha1.Memcached{Spec: cachev1alpha1.MemcachedSpec{Size: 1}}
	m.Namespace, m.Name = namespace, fmt.Sprintf("m%04d", i)
	return m
}
