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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestAStatefulSetGetsAVolumeThatGoesWithItsClaim(t *testing.T) {
	env.Nodes(t, 1, testenv.NodeSpec{Prefix: "statefulset"})
	ns := env.Namespace(t)
	set := statefulSet(ns)
	create(t, env.Client, set)
	eventually.True(t, time.Minute, "the pod of the StatefulSet is ready", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		if set.Status.ReadyReplicas != 1 {
			return fmt.Errorf("ready: %d", set.Status.ReadyReplicas)
		}
		return nil
	})
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data-db-0"}}
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
		t.Fatal(err)
	}
	if claim.Status.Phase != corev1.ClaimBound {
		t.Errorf("the claim of a ready pod is %s", claim.Status.Phase)
	}
	if err := errors.Join(env.Client.Delete(t.Context(), set), env.Client.Delete(t.Context(), claim)); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, time.Minute, "the volume is deleted with its claim", func() error {
		volume := &corev1.PersistentVolume{}
		err := env.Client.Get(t.Context(), client.ObjectKey{Name: claim.Spec.VolumeName}, volume)
		return eventually.Gone(err, apierrors.IsNotFound)
	})
}

func statefulSet(namespace string) *appsv1.StatefulSet {
	labels := map[string]string{"app": "db"}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "any.example/db:v1"}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
					},
				},
			}},
		},
	}
}
