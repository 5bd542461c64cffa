// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// declared returns the fields of a child that opcrew declares.
func declared(object client.Object) map[string]any {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.DeepCopyObject())
	if err != nil {
		panic(err)
	}
	annotations := maps.Clone(object.GetAnnotations())
	delete(annotations, "deployment.kubernetes.io/revision") // this annotation changes when opcrew repairs the template
	return map[string]any{
		"labels": object.GetLabels(), "annotations": annotations, "owners": object.GetOwnerReferences(),
		"spec": content["spec"], "data": content["data"], "token": content["automountServiceAccountToken"],
	}
}

// drifts are merge patches with which another client changes fields that opcrew declares. There are at most three per
// object, because at a fourth change within a minute, opcrew would stop repairing the object for some time.
var drifts = []struct {
	name     string
	resource string
	of       string // name of the object, if it differs from that of the MicroServiceDeploy
	object   client.Object
	patch    string
}{
	{"target", "services", "", &corev1.Service{}, `{"spec":{"ports":[{"name":"http","port":80,"targetPort":1}]}}`},
	{"no-owner", "services", "", &corev1.Service{}, `{"metadata":{"ownerReferences":null}}`},
	{"token", "serviceaccounts", "", &corev1.ServiceAccount{}, `{"automountServiceAccountToken":true}`},
	{"image", "deployments", "", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"other:1"}]}}}}`},
	{"revision", "deployments", "", &appsv1.Deployment{}, `{"spec":{"template":{"metadata":{"annotations":{"opcrew.io/revision":"9"}}}}}`},
	{"proxy", "deployments", "", &appsv1.Deployment{}, `{"spec":{"template":{"spec":{"volumes":null,"containers":[{"name":"app","image":"nginx:1.26"}]}}}}`},
	{"most", "horizontalpodautoscalers", "", &autoscalingv2.HorizontalPodAutoscaler{}, `{"spec":{"maxReplicas":99}}`},
	{"budget", "poddisruptionbudgets", "", &policyv1.PodDisruptionBudget{}, `{"spec":{"maxUnavailable":2}}`},
	{"wall", "networkpolicies", "", &networkingv1.NetworkPolicy{}, `{"spec":{"ingress":[{}]}}`},
	{"rules", "ingresses", "", &networkingv1.Ingress{}, `{"spec":{"rules":[{"host":"stolen.example.com"}]}}`},
	{"hard", "resourcequotas", "opcrew-microservices", &corev1.ResourceQuota{}, `{"spec":{"hard":{"requests.cpu":"99"}}}`},
	{"lines", "secrets", "opcrew-basic-auth", &corev1.Secret{}, `{"stringData":{"htpasswd":"root:{SHA}x"}}`},
}

func TestDriftOfEachChildIsRepairedWithOneWrite(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), autoscaled(true), asks("100m"), needAuth(true), hosted("v1"))
	s.awaitReady(2)
	for _, test := range drifts {
		t.Run(test.resource+" "+test.name, func(t *testing.T) {
			of := &shop{T: t, ns: s.ns, name: "web"}
			if test.of != "" {
				of.name = test.of
			}
			of.expectRepair(test.resource, test.object, test.patch)
			of.settled()
			(&shop{T: t, ns: s.ns, name: "web"}).awaitReady(2)
		})
	}
}

func (s *shop) expectRepair(resource string, object client.Object, patch string) {
	s.Helper()
	s.settled()
	s.read(object)
	before := declared(object)
	mark := env.Audit.Mark(s.T)
	s.patch(object, patch)
	if cmp.Equal(before, declared(object)) {
		s.Fatalf("the patch changes nothing: %s", patch)
	}
	// After a change, an old password stays valid for a while, so the Secret differs from its first content.
	if resource != "secrets" {
		operator.Until(s.T, resource+" "+s.name+" is as declared again", func() error {
			s.read(object)
			if diff := cmp.Diff(before, declared(object)); diff != "" {
				return fmt.Errorf("it differs (-expected +found):\n%s", diff)
			}
			return nil
		})
	}
	writes := childWrites(env.Settled(s.T, mark)).Where(func(c testenv.Call) bool {
		// An autoscaler owns the number of replicas. Therefore, opcrew writes the Deployment only if no other client
		// has changed it since opcrew read it, and otherwise retries. The quota changes with the number of pods.
		return c.Code != 409 && (resource != "deployments" || c.Resource != "resourcequotas")
	})
	if len(writes) != 1 || writes[0].Resource != resource {
		s.Errorf("expected one write, of %s %s, got:\n%s", resource, s.name, writes)
	}
}

// theirs are merge patches with which other owners set fields that opcrew does not declare.
var theirs = []struct {
	of     string
	object client.Object
	patch  string
}{
	{"", &corev1.Service{}, `{"spec":{"sessionAffinity":"ClientIP"}}`},
	{"", &corev1.ServiceAccount{}, `{"imagePullSecrets":[{"name":"theirs"}]}`},
	{"", &policyv1.PodDisruptionBudget{}, `{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`},
	{"", &appsv1.Deployment{}, `{"spec":{"minReadySeconds":1,"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`},
	{"", &autoscalingv2.HorizontalPodAutoscaler{}, `{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":7}}}}`},
	{"", &networkingv1.NetworkPolicy{}, `{}`},
	{"", &networkingv1.Ingress{}, `{"spec":{"tls":[{"hosts":["web.example.com"]}]}}`},
	{"opcrew-basic-auth", &corev1.Secret{}, `{"stringData":{"note":"x"}}`},
	{"opcrew-microservices", &corev1.ResourceQuota{}, `{}`},
}

func TestWhatOthersSetSurvivesChanges(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), autoscaled(true), asks("100m"), needAuth(true), hosted("v1"))
	s.awaitReady(2)
	s.settled()
	mark := env.Audit.Mark(t)
	for _, foreign := range theirs {
		at := s.of(foreign.of)
		at.patch(foreign.object, `{"metadata":{"labels":{"theirs":"x"},"annotations":{"example.com/theirs":"y"}}}`)
		at.patch(foreign.object, foreign.patch)
	}
	s.awaitReady(2)
	if writes := env.Settled(t, mark); len(ownWrites(writes)) > 0 {
		t.Errorf("expected what others set beside ours to be left alone, got:\n%s", writes)
	}
	s.edit(withImage(newImage), withReplicas(3), hosted("v2"), func(m *instance) { m.Spec.MaxReplicas = new(int32(9)) })
	s.awaitReady(3)
	s.settled()
	for _, foreign := range theirs {
		now := foreign.object.DeepCopyObject().(client.Object)
		at := s.of(foreign.of)
		at.read(now)
		version := now.GetResourceVersion()
		at.patch(now, foreign.patch) // the patch changes nothing if the object still has the patched values
		if now.GetResourceVersion() != version || now.GetLabels()["theirs"] != "x" || now.GetAnnotations()["example.com/theirs"] != "y" {
			t.Errorf("expected what others set on the %T to survive, got %+v", now, declared(now))
		}
	}
}

// of returns a copy of s for the object with the given name. If the name is empty, it returns s itself.
func (s *shop) of(name string) *shop {
	if name == "" {
		return s
	}
	return s.named(name)
}
