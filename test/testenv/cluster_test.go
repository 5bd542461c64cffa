// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestAnObjectOwnedByADeletedOneIsCollected(t *testing.T) {
	ns := env.Namespace(t)
	owner, kept := configMap(ns, "owner"), configMap(ns, "kept")
	create(t, env.Client, owner, kept)
	owned := configMap(ns, "owned")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	create(t, env.Client, owned)

	if err := env.Client.Delete(t.Context(), owner); err != nil {
		t.Fatalf("deleting the owner: %v", err)
	}
	eventually.True(t, time.Minute, "the owned ConfigMap is deleted after its owner", func() error {
		return eventually.Gone(env.Client.Get(t.Context(), client.ObjectKeyFromObject(owned), owned), apierrors.IsNotFound)
	})
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil {
		t.Errorf("the ConfigMap without an owner should stay: %v", err)
	}
}

func TestADeploymentGetsPodsThatBecomeReady(t *testing.T) {
	env.Nodes(t, 2, testenv.NodeSpec{Prefix: "deployment"})
	ns := env.Namespace(t)
	good, bad := deployment(ns, "good", "any.example/image:v1"), deployment(ns, "bad", testenv.MissingImage)
	create(t, env.Client, good, bad)

	eventually.True(t, time.Minute, "the Deployment has two available pods", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(good), good); err != nil {
			return err
		}
		if good.Status.AvailableReplicas != 2 {
			return fmt.Errorf("available: %d", good.Status.AvailableReplicas)
		}
		return nil
	})
	eventually.True(t, time.Minute, "pods with a missing image stay Pending", func() error {
		pods := &corev1.PodList{}
		if err := env.Client.List(t.Context(), pods, client.InNamespace(ns), client.MatchingLabels{"app": "bad"}); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			for _, status := range pod.Status.ContainerStatuses {
				if status.State.Waiting != nil && status.State.Waiting.Reason == "ImagePullBackOff" {
					return nil
				}
			}
		}
		return fmt.Errorf("none of %d pods waits", len(pods.Items))
	})
}

func deployment(namespace, name, image string) *appsv1.Deployment {
	replicas, labels := int32(2), map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
			},
		},
	}
}

func TestTwentyNodesAreReadyAndOneCanGoDownAndComeBack(t *testing.T) {
	names := env.Nodes(t, 20, testenv.NodeSpec{Prefix: "twenty", Labels: map[string]string{"rack": "a"}})
	list := &corev1.NodeList{}
	if err := env.Client.List(t.Context(), list, client.MatchingLabels{"rack": "a"}); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 20 {
		t.Errorf("nodes with the label: %d, expected 20", len(list.Items))
	}
	env.SetNodeReady(t, names[3], false)
	eventually.True(t, time.Minute, "a node that is not ready is tainted by the node lifecycle controller", func() error {
		node := &corev1.Node{}
		if err := env.Client.Get(t.Context(), client.ObjectKey{Name: names[3]}, node); err != nil {
			return err
		}
		if len(node.Spec.Taints) == 0 {
			return errors.New("it has no taint")
		}
		return nil
	})
	env.SetNodeReady(t, names[3], true)
}
