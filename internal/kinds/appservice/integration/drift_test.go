// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/operator"
)

// declared returns the fields of a child that opcrew declares.
func declared(object client.Object) map[string]any {
	out := map[string]any{"labels": object.GetLabels(), "annotations": object.GetAnnotations(), "owners": object.GetOwnerReferences()}
	switch o := object.(type) {
	case *corev1.Service:
		out["spec"] = o.Spec
	case *appsv1.Deployment:
		annotations := map[string]string{}
		for key, value := range o.Annotations {
			if key != "deployment.kubernetes.io/revision" { // this annotation changes when opcrew repairs the template
				annotations[key] = value
			}
		}
		out["spec"], out["annotations"] = o.Spec, annotations
	case *policyv1.PodDisruptionBudget:
		out["spec"] = o.Spec
	}
	return out
}

// drifts are merge patches with which another client changes fields that opcrew declares.
var drifts = []struct {
	name     string
	resource string
	object   client.Object
	patch    string
}{
	{"type", "services", &corev1.Service{}, `{"spec":{"type":"NodePort"}}`},
	{"selector", "services", &corev1.Service{}, `{"spec":{"selector":{"app":"other"}}}`},
	{"target", "services", &corev1.Service{}, `{"spec":{"ports":[{"name":"tcp-80","port":80,"targetPort":1}]}}`},
	{"port-name", "services", &corev1.Service{}, `{"spec":{"ports":[{"name":"other","port":80,"targetPort":8080}]}}`},
	{"label", "services", &corev1.Service{}, `{"metadata":{"labels":{"app":"other"}}}`},
	{"not-ours", "services", &corev1.Service{}, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`},
	{"no-owner", "services", &corev1.Service{}, `{"metadata":{"ownerReferences":null}}`},
	{"no-hash", "services", &corev1.Service{}, `{"metadata":{"annotations":{"opcrew.io/applied":null}}}`},

	{"replicas", "deployments", &appsv1.Deployment{}, `{"spec":{"replicas":3}}`},
	{"none", "deployments", &appsv1.Deployment{}, `{"spec":{"replicas":0}}`},
	{"strategy", "deployments", &appsv1.Deployment{}, `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`},
	{"surge", "deployments", &appsv1.Deployment{}, `{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1}}}}`},
	{"image", "deployments", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[{"name":"image","image":"other:1"}]}}}}`},
	{"grace", "deployments", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":60}}}}`},
	{"token", "deployments", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"automountServiceAccountToken":true}}}}`},
	{"links", "deployments", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"enableServiceLinks":null}}}}`},
	{"pod-label", "deployments", &appsv1.Deployment{}, `{"spec":{"template":{"metadata":{"labels":{"app.kubernetes.io/component":null}}}}}`},
	{"pods-not-ours", "deployments", &appsv1.Deployment{}, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"Helm"}}}`},
	{"pods-no-owner", "deployments", &appsv1.Deployment{}, `{"metadata":{"ownerReferences":null}}`},
	{"pods-no-pin", "deployments", &appsv1.Deployment{}, `{"metadata":{"annotations":{"opcrew.io/pinned":null}}}`},

	{"budget", "poddisruptionbudgets", &policyv1.PodDisruptionBudget{}, `{"spec":{"maxUnavailable":2}}`},
	{"budget-pods", "poddisruptionbudgets", &policyv1.PodDisruptionBudget{}, `{"spec":{"selector":{"matchLabels":{"app":"other"}}}}`},
	{"budget-label", "poddisruptionbudgets", &policyv1.PodDisruptionBudget{}, `{"metadata":{"labels":{"app.kubernetes.io/part-of":"other"}}}`},
}

func TestDriftOfEveryDeclaredFieldIsRepairedWithOneWrite(t *testing.T) {
	s := newShop(t)
	for _, test := range drifts {
		t.Run(test.resource+" "+test.name, func(t *testing.T) {
			s.named(t, test.name).expectRepair(test.resource, test.object, test.patch)
		})
	}
}

func (s *shop) expectRepair(resource string, object client.Object, patch string) {
	s.Helper()
	s.create(2, withPorts(http))
	s.awaitReady(2)
	env.Settled(s.T, env.Audit.Mark(s.T))
	s.read(object)
	before := declared(object)
	mark := env.Audit.Mark(s.T)
	s.patch(object, patch)
	if cmp.Equal(before, declared(object)) {
		s.Fatalf("the patch changes nothing: %s", patch)
	}
	operator.Until(s.T, resource+" "+s.name+" is as declared again", func() error {
		s.read(object)
		if diff := cmp.Diff(before, declared(object)); diff != "" {
			return fmt.Errorf("it differs (-expected +found):\n%s", diff)
		}
		return nil
	})
	s.recovers(2)
	if writes := childWrites(env.Settled(s.T, mark)); len(writes) != 1 || writes[0].Resource != resource {
		s.Errorf("expected one write, of %s %s, got:\n%s", resource, s.name, writes)
	}
	s.delete()
}

// theirs are merge patches with which other owners set fields that opcrew does not declare.
var theirs = []struct {
	object client.Object
	patch  string
	there  func(client.Object) bool
}{
	{&corev1.Service{}, `{"metadata":{"labels":{"theirs":"x"},"annotations":{"example.com/theirs":"y"}},"spec":{"sessionAffinity":"ClientIP"}}`, func(o client.Object) bool {
		return o.(*corev1.Service).Spec.SessionAffinity == corev1.ServiceAffinityClientIP
	}},
	{&policyv1.PodDisruptionBudget{}, `{"metadata":{"labels":{"theirs":"x"},"annotations":{"example.com/theirs":"y"}},"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`, func(o client.Object) bool {
		return o.(*policyv1.PodDisruptionBudget).Spec.UnhealthyPodEvictionPolicy != nil
	}},
	{&appsv1.Deployment{}, `{"metadata":{"labels":{"theirs":"x"},"annotations":{"example.com/theirs":"y"}},"spec":{"minReadySeconds":1,"template":{"metadata":{"labels":{"theirs":"x"}}}}}`, func(o client.Object) bool {
		spec := o.(*appsv1.Deployment).Spec
		return spec.MinReadySeconds == 1 && spec.Template.Labels["theirs"] == "x" && len(spec.Template.Spec.Containers) == 2 &&
			spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] != ""
	}},
}

func TestWhatOthersSetSurvivesChangesRepairsAndABadImage(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	mark := env.Audit.Mark(t)
	for _, foreign := range theirs {
		s.patch(foreign.object, foreign.patch)
	}
	s.kubectl("rollout", "restart", "deployment/web")
	s.kubectl("patch", "deployment/web", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"sidecar:1"}]}}}}`)
	s.recovers(2)
	if writes := childWrites(env.Settled(t, mark)); len(writes) > 0 {
		t.Errorf("expected what others set beside ours to be left alone, got:\n%s", writes)
	}
	s.expectTheirs("as they set it")
	s.patch(&appsv1.Deployment{}, `{"spec":{"replicas":5}}`)
	s.patch(&corev1.Service{}, `{"spec":{"type":"NodePort"}}`)
	env.Settled(t, env.Audit.Mark(t))
	s.recovers(2)
	s.expectTheirs("after drift")
	s.edit(withImage(placeholder))
	s.await(ready, "False InvalidImage")
	s.expectTheirs("with a bad image")
	s.edit(withImage("nginx:1.27"), withSize(3))
	s.awaitReady(3)
	s.expectTheirs("after a change")
}

func (s *shop) expectTheirs(when string) {
	s.Helper()
	for _, foreign := range theirs {
		s.read(foreign.object)
		if o := foreign.object; o.GetLabels()["theirs"] != "x" || o.GetAnnotations()["example.com/theirs"] != "y" || !foreign.there(o) {
			s.Errorf("%s: expected what others set on the %T to survive, got %+v", when, o, o)
		}
	}
}
