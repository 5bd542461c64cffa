// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// Each test in this file is named after a fault that users reported in the operator of the AppService tutorial. opcrew
// must not have these faults.

// The operator of the AppService tutorial recorded the spec only when it created the children. After the first change
// of the spec, it therefore rewrote all children at every event.
func TestFaultOfTheTutorialAfterAChangeEveryEventRewritesTheChildren(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	s.edit(withImage("nginx:1.27"), withSize(3))
	s.awaitReady(3)
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	for _, note := range []string{"a", "b", "c"} {
		s.edit(annotated("example.com/note", note))
		s.patch(&corev1.Service{}, `{"metadata":{"annotations":{"example.com/note":"`+note+`"}}}`)
		env.Settled(t, env.Audit.Mark(t))
	}
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected events after a change to write nothing, got:\n%s", writes)
	}
	annotations := s.get().Annotations
	delete(annotations, common.RequesterAnnotation) // an admission policy sets this annotation
	if len(annotations) != 1 {
		t.Errorf("expected no note of the operator on the user's object, got %v", annotations)
	}
}

func TestFaultOfTheTutorialARefusedUpdateIsSwallowed(t *testing.T) {
	s := newShop(t)
	s.create(1, withPorts(http))
	s.awaitReady(1)
	s.edit(withPorts(atNodes(79))) // 79 is outside the range of nodePorts of the API server
	s.await(ready, "False Refused", "Service "+s.ns+"/web", "provided port is not in the valid range")
	s.edit(withPorts(atNodes(0)))
	s.awaitReady(1)
}

// If a read failed with an unknown error, the operator of the AppService tutorial went on as if the object existed.
// This test checks that opcrew writes nothing when it starts with an empty cache. A unit test of Observe covers failed
// reads.
func TestFaultOfTheTutorialAFailedReadFallsThroughToTheUpdate(t *testing.T) {
	s := newShop(t)
	s.create(1, withPorts(http))
	s.awaitReady(1)
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start() // the operator starts with an empty cache
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected nothing to be written on a view that is not complete, got:\n%s", writes)
	}
}

// The operator of the AppService tutorial created a Service only if the Deployment was missing.
func TestFaultOfTheTutorialAServiceThatCouldNotBeMadeIsNeverMade(t *testing.T) {
	s := newShop(t)
	s.create(1, withPorts(atNodes(79)))
	s.await(rolled, "True AllPodsReady")
	s.await(ready, "False Refused")
	s.edit(withPorts(http))
	s.awaitReady(1)
	s.expectType(corev1.ServiceTypeClusterIP)
}

func TestFaultOfTheTutorialTheServiceIsNotWatched(t *testing.T) {
	s := newShop(t)
	s.create(1, withPorts(http))
	s.awaitReady(1)
	service := &corev1.Service{}
	s.patch(service, `{"spec":{"ports":[{"name":"tcp-80","port":80,"targetPort":1}]}}`)
	operator.Until(t, "the Service leads to the pods again", func() error {
		s.read(service)
		return differs(intstr.FromInt32(8080), service.Spec.Ports[0].TargetPort)
	})
	if err := env.Client.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the Service is there again", func() error {
		return env.Client.Get(t.Context(), keyOf(service), &corev1.Service{})
	})
}

func TestFaultOfTheTutorialANamedTargetPortIsContainerPort0(t *testing.T) {
	s := newShop(t)
	s.create(1, withPorts(common.Port{Port: 80, TargetPort: "http"}))
	s.awaitReady(1)
	d, service := &appsv1.Deployment{}, &corev1.Service{}
	s.read(d)
	s.read(service)
	if port := d.Spec.Template.Spec.Containers[0].Ports[0]; port.Name != "http" || port.ContainerPort != 80 {
		t.Errorf("expected container port http to be 80, got %+v", port)
	}
	if target := service.Spec.Ports[0].TargetPort; target.StrVal != "http" {
		t.Errorf("expected the Service to lead to port http, got %+v", target)
	}
}

func TestFaultOfTheTutorialTheStatusIsNeverWritten(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	status := s.awaitReady(2).Status
	if status.ObservedGeneration != 1 || len(status.Conditions) != 4 || status.Selector == "" {
		t.Errorf("expected a status with all conditions, got %+v", status)
	}
}

func TestFaultOfTheTutorialEveryServiceIsANodePort(t *testing.T) {
	s := newShop(t)
	s.create(1, withPorts(http))
	s.awaitReady(1)
	if service := s.expectType(corev1.ServiceTypeClusterIP); service.Spec.Ports[0].NodePort != 0 {
		t.Errorf("expected no port at the nodes that the spec does not ask for, got %+v", service.Spec.Ports)
	}
}

func TestFaultOfTheTutorialItsDefinitionIsOfAVersionThatIsGone(t *testing.T) {
	s := newShop(t)
	var crd struct {
		APIVersion string `json:"apiVersion"`
		Status     struct {
			StoredVersions []string `json:"storedVersions"`
		} `json:"status"`
	}
	if err := json.Unmarshal([]byte(s.kubectl("get", "crd", "appservices.app.example.com", "-o", "json")), &crd); err != nil {
		t.Fatal(err)
	}
	if crd.APIVersion != "apiextensions.k8s.io/v1" || len(crd.Status.StoredVersions) != 1 || crd.Status.StoredVersions[0] != "v1" {
		t.Errorf("expected a definition of apiextensions.k8s.io/v1 that serves v1, got %+v", crd)
	}
}
