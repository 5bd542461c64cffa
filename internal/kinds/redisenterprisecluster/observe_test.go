// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
)

func TestAPodThatLostItsLabelIsNamedWithWhatToDo(t *testing.T) {
	for want, labels := range map[string]map[string]string{
		"pod example-1 exists but lacks a label of the StatefulSet's selector; restore the label: kubectl label --overwrite pod -n shop example-1 redis.io/cluster=example": {
			"app": "redis-enterprise", "redis.io/role": "node", "app.kubernetes.io/managed-by": "opcrew",
		},
		"": {"app": "redis-enterprise", "redis.io/role": "node", "app.kubernetes.io/managed-by": "opcrew", "redis.io/cluster": "example"},
	} {
		s := running(3)
		delete(s.Pods, "example-1")
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name, pod.Labels = s.Namespace, "example-1", labels
		r := fake.NewClientBuilder().WithObjects(pod).Build()
		if got, err := observed.Unlabelled(t.Context(), r, s.Cluster, s.Members); err != nil || got != want {
			t.Errorf("expected %q, got %q, error %v", want, got, err)
		}
	}
	s := running(3)
	delete(s.Pods, "example-1")
	r := fake.NewClientBuilder().Build()
	if got, err := observed.Unlabelled(t.Context(), r, s.Cluster, s.Members); err != nil || got != "" {
		t.Errorf("expected nothing to be said of a pod that is not there, got %q, error %v", got, err)
	}
}
