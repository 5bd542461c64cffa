// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// scaledWeb declares the Deployment web with replicas that an autoscaler owns.
func scaledWeb(replicas int32) Child {
	child := web(func(d *appsv1ac.DeploymentApplyConfiguration, _ *corev1ac.ContainerApplyConfiguration) {
		d.Spec.WithReplicas(replicas)
	})
	child.Carry = []string{"spec.replicas"}
	return child
}

func replicasOf(t *testing.T, in *intent) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(in.object.Object, "spec", "replicas")
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return nil
	}
	return value
}

func TestACarriedFieldIsNeitherHashedNorCompared(t *testing.T) {
	in := mustDeclare(t, shop(), scaledWeb(2))
	if other := mustDeclare(t, shop(), scaledWeb(5)); other.hash() != in.hash() {
		t.Error("the hash changes with the replicas that are declared, expected it not to")
	}
	live := asServed(t, in, &appsv1.Deployment{})
	live.Spec.Replicas = new(int32(9))
	drift, err := newComparer(clientgoscheme.Scheme).drift(in, live)
	if err != nil || drift != nil {
		t.Errorf("drift at %v (%v), expected none when the autoscaler scales", drift, err)
	}
	live.Spec.Template.Spec.Containers[0].Image = "web:2"
	if drift, err = newComparer(clientgoscheme.Scheme).drift(in, live); err != nil || drift == nil {
		t.Errorf("no drift (%v), expected the other fields to be compared", err)
	}
}

func TestTheLiveValueOfACarriedFieldIsAppliedAtTheVersionItWasReadAt(t *testing.T) {
	in := mustDeclare(t, shop(), scaledWeb(2))
	live := asServed(t, in, &appsv1.Deployment{})
	live.Spec.Replicas = new(int32(0))
	if err := in.carry(live); err != nil {
		t.Fatal(err)
	}
	if got := replicasOf(t, in); got != int64(0) {
		t.Errorf("replicas to apply: %v, expected the autoscaler's 0", got)
	}
	if got := in.object.GetResourceVersion(); got != "7" {
		t.Errorf("applied at version %q, expected 7: a later step of the autoscaler would be undone", got)
	}
}

func TestANewChildStartsWithTheDeclaredValueOfACarriedField(t *testing.T) {
	in := mustDeclare(t, shop(), scaledWeb(2))
	if got := replicasOf(t, in); got != nil {
		t.Fatalf("replicas before: %v, expected none", got)
	}
	if err := in.restore(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(replicasOf(t, in)); got != "2" {
		t.Errorf("replicas to create with: %v, expected the declared 2", got)
	}
}

func TestWithoutCarriedFieldsNoVersionIsDemanded(t *testing.T) {
	in := mustDeclare(t, shop(), web())
	if err := in.carry(asServed(t, in, &appsv1.Deployment{})); err != nil {
		t.Fatal(err)
	}
	if got := in.object.GetResourceVersion(); got != "" {
		t.Errorf("applied at version %q, expected none: a status update in between would be a conflict", got)
	}
}
