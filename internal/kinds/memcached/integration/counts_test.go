// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestFromCreationToReadyThereAreFiveWritesOfChildrenAndTwoOfStatus(t *testing.T) {
	s := newShop(t)
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	s.create(3)
	m := s.awaitReady(3)
	if m.Status.LastResize != nil {
		t.Errorf("expected the first servers to be no change of size, got %+v", m.Status.LastResize)
	}
	writes := env.Settled(t, mark).Writes()
	t.Logf("writes: %v", writes.Tally())
	want := map[string]int{"patch networkpolicies": 1, "patch services": 1, "patch configmaps": 1, "patch statefulsets": 1, "patch poddisruptionbudgets": 1, "patch memcacheds/status": 2}
	if diff := cmp.Diff(want, writes.Tally()); diff != "" {
		t.Errorf("not the writes that it takes (-expected +found):\n%s\n%s", diff, writes)
	}
}

func TestASecondLookAndARestartWriteNothingAndAtRestThereIsNoCall(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)

	mark := env.Audit.Mark(t)
	s.edit(annotated("example.com/note", "x"))
	if done := env.Settled(t, mark); len(done) > 0 {
		t.Errorf("expected no call for an annotation of another owner, got:\n%s", done)
	}
	s.operator.Stop()
	mark = env.Audit.Mark(t)
	s.operator.Start()
	done := env.Settled(t, mark)
	t.Logf("a restart: %v", done.Tally())
	if writes := done.Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}
	env.Rests(t)
}

func TestDriftOfEachChildIsRepairedWithOneWriteAndWhatOthersSetSurvives(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	env.Settled(t, env.Audit.Mark(t))
	for resource, test := range map[string]struct {
		name     string
		object   client.Object
		drift    string
		repaired func(client.Object) bool
	}{
		"services": {"web", &corev1.Service{}, `{"spec":{"publishNotReadyAddresses":false}}`, func(o client.Object) bool {
			return o.(*corev1.Service).Spec.PublishNotReadyAddresses
		}},
		"configmaps": {"web-servers", &corev1.ConfigMap{}, `{"data":{"servers":"elsewhere:1","theirs":"x"}}`, func(o client.Object) bool {
			data := o.(*corev1.ConfigMap).Data
			return data["servers"] == fmt.Sprintf("web-0.web.%[1]s.svc:11211\nweb-1.web.%[1]s.svc:11211", s.ns) && data["theirs"] == "x"
		}},
		"statefulsets": {"web", &appsv1.StatefulSet{}, `{"spec":{"replicas":3}}`, func(o client.Object) bool {
			return *o.(*appsv1.StatefulSet).Spec.Replicas == 2
		}},
		"networkpolicies": {"web-network", &networkingv1.NetworkPolicy{}, `{"spec":{"ingress":[{}]}}`, func(o client.Object) bool {
			ingress := o.(*networkingv1.NetworkPolicy).Spec.Ingress
			return len(ingress) == 1 && len(ingress[0].Ports) == 1 && ingress[0].Ports[0].Port.IntValue() == 11211
		}},
		"poddisruptionbudgets": {"web", &policyv1.PodDisruptionBudget{}, `{"spec":{"maxUnavailable":2}}`, func(o client.Object) bool {
			return o.(*policyv1.PodDisruptionBudget).Spec.MaxUnavailable.IntValue() == 1
		}},
	} {
		t.Run(resource, func(t *testing.T) {
			s := &shop{T: t, ns: s.ns}
			s.expectRepair(test.name, resource, test.object, test.drift, test.repaired)
		})
	}
}

// expectRepair changes a child as another client would, and expects the operator to undo the change. It also adds a
// label and an annotation that opcrew does not set; the operator must keep both.
func (s *shop) expectRepair(name, resource string, object client.Object, drift string, repaired func(client.Object) bool) {
	s.Helper()
	s.read(name, object)
	s.patch(object, `{"metadata":{"labels":{"theirs":"x"},"annotations":{"example.com/theirs":"y"}}}`)
	if done := env.Settled(s.T, env.Audit.Mark(s.T)).Writes(); len(done) > 0 {
		s.Errorf("expected what others set beside ours to be left alone, got:\n%s", done)
	}
	mark := env.Audit.Mark(s.T)
	s.patch(object, drift)
	operator.Until(s.T, resource+" "+name+" is as declared again", func() error {
		s.read(name, object)
		if !repaired(object) {
			return fmt.Errorf("it is %+v", object)
		}
		return nil
	})
	writes := env.Settled(s.T, mark).Writes()
	if children := writes.Where(func(c testenv.Call) bool { return c.Resource != "memcacheds" }); len(children) != 1 || children[0].Resource != resource {
		s.Errorf("expected one write, of %s %s, got:\n%s", resource, name, writes)
	}
	s.read(name, object)
	if object.GetLabels()["theirs"] != "x" || object.GetAnnotations()["example.com/theirs"] != "y" {
		s.Errorf("expected label and annotation of another owner to survive, got %v %v", object.GetLabels(), object.GetAnnotations())
	}
	s.await(cachev1alpha1.MemcachedReady, "True AllServersReady")
}
