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

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// Each Diva in this benchmark has one manager pod and one client pod. opcrew adds an owner to the claim that the
// StatefulSet creates. The bare client (the baseline, which makes only necessary writes) does not make this write.
func TestADivaCostsItsChildrenAndTwoStatuses(t *testing.T) {
	owner{
		kind: "diva", resource: "divas", list: &opsv1.DivaList{},
		object: system, namespaces: min(50, *objects), podsEach: 2, children: 12, statuses: 2,
		childKinds: []schema.GroupVersionKind{
			corev1.SchemeGroupVersion.WithKind("Secret"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
			corev1.SchemeGroupVersion.WithKind("Service"), networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"),
			policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
			appsv1.SchemeGroupVersion.WithKind("StatefulSet"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
		},
		pods:   &appsv1.DeploymentList{},
		serves: func(d client.Object) bool { return d.(*appsv1.Deployment).Status.ReadyReplicas > 0 },
		drift: func(d client.Object) (client.Object, client.Patch) {
			list := &corev1.ConfigMap{}
			list.Namespace, list.Name = d.GetNamespace(), d.GetName()+"-inventory"
			return list, mergePatch(`{"data":{"hosts":"drifted"}}`)
		},
		drifts:  &corev1.ConfigMapList{},
		drifted: func(list client.Object) bool { return list.(*corev1.ConfigMap).Data["hosts"] == "drifted" },
		flaps:   "diva-client",
	}.bench(t)
}

func system(namespace string, i int) client.Object {
	storage := opsv1.Storage{Size: "1Gi", ClassName: "standard"}
	d := &opsv1.Diva{Spec: opsv1.DivaSpec{
		DeletionPolicy: opsv1.DeletionDelete,
		Client:         opsv1.Client{Replicas: 1, Part: opsv1.Part{Image: "client:1", Storage: storage}},
		Manager:        opsv1.Manager{Part: opsv1.Part{Image: "diva:1", Storage: storage}},
		Extra:          opsv1.Extra{Image: "extra:1", Storage: storage},
	}}
	d.Namespace, d.Name = namespace, fmt.Sprintf("d%04d", i)
	return d
}
