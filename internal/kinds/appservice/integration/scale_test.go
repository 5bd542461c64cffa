// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestScaleUpDownToZeroAndBackAndTheBudgetComesAndGoes(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	before := s.all()
	for _, step := range []struct {
		to     int32
		budget string // the expected API call for the PodDisruptionBudget
	}{{4, ""}, {1, "delete"}, {0, ""}, {3, "patch"}, {2, ""}, {0, "delete"}, {1, ""}} {
		env.Settled(t, env.Audit.Mark(t))
		mark := env.Audit.Mark(t)
		s.scale(step.to)
		a := s.awaitReady(int(step.to))
		if there := s.there(&policyv1.PodDisruptionBudget{}); there != (step.to > 1) {
			t.Errorf("at size %d: expected a PodDisruptionBudget to be there: %t, got %t", step.to, step.to > 1, there)
		}
		tally := childWrites(env.Settled(t, mark)).Tally()
		want := map[string]int{"patch deployments": 1}
		if step.budget != "" {
			want[step.budget+" poddisruptionbudgets"] = 1
		}
		if diff := cmp.Diff(want, tally); diff != "" {
			t.Errorf("to size %d: not the writes that it takes (-expected +found):\n%s", step.to, diff)
		}
		scale := &autoscalingv1.Scale{}
		if err := env.Client.SubResource("scale").Get(t.Context(), a, scale); err != nil {
			t.Fatal(err)
		}
		if scale.Status.Replicas != step.to || !strings.Contains(scale.Status.Selector, "app.kubernetes.io/instance=web") {
			t.Errorf("expected the scale subresource to tell %d and a selector, got %+v", step.to, scale.Status)
		}
	}
	for _, child := range []string{"Service web", "Deployment web"} {
		if s.all()[child] != before[child] {
			t.Errorf("expected %s to be the same object after all changes of size", child)
		}
	}
}

func TestAnObjectThatNamesNoSizeHasOnePodAndCanBeScaled(t *testing.T) {
	s := newShop(t)
	s.create(0, func(a *appv1.AppService) { a.Spec.Size = nil })
	s.awaitReady(1)
	s.kubectl("scale", "appservice/web", "--replicas=2")
	s.awaitReady(2)
}

// Regression: for a moment after a change, Ready was True although the change had not been applied yet.
func TestReadyIsNeverTrueOfAnImageThatIsNotThereYet(t *testing.T) {
	s := newShop(t)
	s.create(3, withPorts(http))
	s.awaitReady(3)
	// Wait until opcrew is idle: otherwise it could apply the change before it writes the status that the watch expects.
	env.Settled(t, env.Audit.Mark(t))
	watch, err := env.Client.Watch(t.Context(), &appv1.AppServiceList{}, client.InNamespace(s.ns))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	s.edit(withImage("nginx:1.27"))
	for event := range watch.ResultChan() {
		a, ok := event.Object.(*appv1.AppService)
		if !ok || a.Generation < 2 || a.Status.ObservedGeneration < a.Generation {
			continue
		}
		isReady := meta.IsStatusConditionTrue(a.Status.Conditions, ready)
		if n := s.running("nginx:1.27"); isReady && n != 3 {
			t.Fatalf("Ready is True of the new image, and %d of 3 pods run it", n)
		}
		if isReady {
			break
		}
	}
	s.awaitReady(3)
}

func TestTheServiceFollowsThePorts(t *testing.T) {
	s := newShop(t)
	s.create(1)
	s.awaitReady(1)
	if s.there(&corev1.Service{}) {
		t.Error("expected no Service without ports")
	}
	s.edit(withPorts(http))
	s.awaitReady(1)
	s.expectType(corev1.ServiceTypeClusterIP)
	s.edit(withPorts(atNodes(0)))
	s.awaitReady(1)
	service := s.expectType(corev1.ServiceTypeNodePort)
	given := service.Spec.Ports[0].NodePort
	if given == 0 {
		t.Errorf("expected any nodePort that is free, got %+v", service.Spec.Ports)
	}
	s.edit(withImage("nginx:1.27"))
	s.awaitReady(1)
	if got := s.expectType(corev1.ServiceTypeNodePort).Spec.Ports[0].NodePort; got != given {
		t.Errorf("expected the nodePort that the server chose to stay %d, got %d", given, got)
	}
	mark := env.Audit.Mark(t)
	s.edit(withPorts())
	operator.Until(t, "the Service is gone with the ports", func() error {
		if s.there(&corev1.Service{}) {
			return fmt.Errorf("it is there")
		}
		return nil
	})
	s.awaitReady(1)
	if got := childWrites(env.Settled(t, mark)).Tally()["delete services"]; got != 1 {
		t.Errorf("expected the Service to be deleted once, got %d times", got)
	}
}

func (s *shop) expectType(want corev1.ServiceType) *corev1.Service {
	s.Helper()
	service := &corev1.Service{}
	s.read(service)
	if service.Spec.Type != want {
		s.Errorf("expected a Service of type %s, got %s", want, service.Spec.Type)
	}
	return service
}
