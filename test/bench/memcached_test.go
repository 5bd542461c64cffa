// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
)

func TestAMemcachedCostsItsChildrenAndTwoStatuses(t *testing.T) {
	owner{
		kind: "memcached", resource: "memcacheds", list: &cachev1alpha1.MemcachedList{},
		object: memcached, namespaces: 1, children: 5, statuses: 2,
		childKinds: []schema.GroupVersionKind{
			corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
			appsv1.SchemeGroupVersion.WithKind("StatefulSet"), policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
			networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"),
		},
		pods:   &appsv1.StatefulSetList{},
		serves: func(set client.Object) bool { return set.(*appsv1.StatefulSet).Status.ReadyReplicas > 0 },
		drift: func(m client.Object) (client.Object, client.Patch) {
			list := &corev1.ConfigMap{}
			list.Namespace, list.Name = m.GetNamespace(), m.GetName()+"-servers"
			return list, mergePatch(`{"data":{"servers":"drifted"}}`)
		},
		drifts:  &corev1.ConfigMapList{},
		drifted: func(list client.Object) bool { return list.(*corev1.ConfigMap).Data["servers"] == "drifted" },
	}.bench(t)
}

func memcached(namespace string, i int) client.Object {
	m := &cachev1alpha1.Memcached{Spec: cachev1alpha1.MemcachedSpec{Size: 1}}
	m.Namespace, m.Name = namespace, fmt.Sprintf("m%04d", i)
	return m
}
