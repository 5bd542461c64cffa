// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// holder creates a Service in another namespace that uses the given nodePort, so that the AppService cannot get this
// nodePort.
func (s *shop) holder(port int32) *corev1.Service {
	s.Helper()
	service := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}}}}
	service.Namespace, service.Name = env.Namespace(s.T), "first"
	if err := env.Client.Create(s.Context(), service); err != nil {
		s.Fatal(err)
	}
	return service
}

func TestATakenNodePortIsReportedWithoutItsHolderElsewhereAndThePodsRunAllTheSame(t *testing.T) {
	s := newShop(t)
	holder := s.holder(30111)
	s.create(2, withPorts(atNodes(30111)))
	s.await(ready, "False NodePortTaken", "nodePort 30111 is in use in another namespace", "0 for any free port")
	a := s.await(rolled, "True AllPodsReady")
	if a.Status.ReadyReplicas != 2 || s.there(&corev1.Service{}) {
		t.Errorf("expected two pods and no Service, got %+v", a.Status)
	}
	if err := env.Client.Delete(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	s.awaitReady(2) // opcrew must retry without a change of the spec
	service := &corev1.Service{}
	s.read(service)
	if service.Spec.Ports[0].NodePort != 30111 {
		t.Errorf("expected the nodePort that was asked for, got %+v", service.Spec.Ports)
	}
}

func TestATakenNodePortLeavesTheServiceThatThereIsAndAnotherIsTakenAtOnce(t *testing.T) {
	s := newShop(t)
	s.holder(30112)
	s.create(1, withPorts(atNodes(30113)))
	s.awaitReady(1)
	s.edit(withPorts(atNodes(30112)))
	s.await(ready, "False NodePortTaken", "nodePort 30112 is in use")
	if got := s.expectType(corev1.ServiceTypeNodePort).Spec.Ports[0].NodePort; got != 30113 {
		t.Errorf("expected the Service to go on at 30113, got %d", got)
	}
	s.edit(withPorts(atNodes(0)))
	s.awaitReady(1)
}

func TestABadImageNeverTakesRunningPodsAway(t *testing.T) {
	s := newShop(t)
	s.create(3, withPorts(http))
	s.awaitReady(3)
	env.Settled(t, env.Audit.Mark(t))
	pods := s.all()
	mark := env.Audit.Mark(t)
	s.edit(withImage(placeholder))
	a := s.await(ready, "False InvalidImage", "spec.image", placeholder, "the 3 running pods stay unchanged")
	if a.Status.ReadyReplicas != 3 || s.running("nginx:1.26") != 3 {
		t.Errorf("expected three pods to serve, got %+v", a.Status)
	}
	s.await("Available", "True Serving")
	s.edit(withImage("nginx:1.26"))
	s.awaitReady(3)
	if writes := childWrites(env.Settled(t, mark)); len(writes) > 0 {
		t.Errorf("expected a bad image and its correction to write no child, got:\n%s", writes)
	}
	for name, uid := range s.all() {
		if pods[name] != uid {
			t.Errorf("expected %s to be left alone", name)
		}
	}
}

func TestAnImageThatCannotBePulledKeepsTheOldPodsAndDoesNotBlockItsCorrection(t *testing.T) {
	s := newShop(t)
	s.create(3, withPorts(http))
	s.awaitReady(3)
	for _, back := range []string{"nginx:1.26", "nginx:1.27"} {
		s.edit(withImage(testenv.MissingImage))
		a := s.await(ready, "False PodsNotReady", "0 of 3 new pods are ready, and 3 old pods still serve requests", "container web: ImagePullBackOff")
		if a.Status.ReadyReplicas != 3 {
			t.Errorf("expected the old pods to serve, got %+v", a.Status)
		}
		s.await("Available", "True Serving")
		s.edit(withImage(back))
		s.awaitReady(3)
	}
}

func TestAnObjectThatBeginsWithABadImageRecoversWhenItIsCorrected(t *testing.T) {
	s := newShop(t)
	s.create(1, withImage(placeholder))
	s.await(ready, "False InvalidImage", placeholder)
	if got := s.all(); len(got) > 0 {
		t.Errorf("expected nothing to be made for an image that is none, got %v", got)
	}
	s.edit(withImage(testenv.MissingImage))
	s.await(ready, "False PodsNotReady", "0 of 1 pods are ready", "ImagePullBackOff")
	s.edit(withImage("nginx:1.26"))
	s.awaitReady(1)
}

func TestAQuotasRefusalIsReportedInItsWordsAndWhenItIsLiftedAllGoesOn(t *testing.T) {
	s := newShop(t)
	quota := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("2")}}}
	quota.Namespace, quota.Name = s.ns, "web"
	if err := env.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the quota is in force", func() error {
		s.read(quota)
		if len(quota.Status.Hard) == 0 {
			return fmt.Errorf("its status is %+v", quota.Status)
		}
		return nil
	})
	s.create(3, withPorts(http))
	a := s.await(ready, "False PodsMissing", "2 of 3 pods are ready", "exceeded quota: web")
	if a.Status.ReadyReplicas != 2 {
		t.Errorf("expected the two pods that the quota allows to serve, got %d", a.Status.ReadyReplicas)
	}
	env.Settled(t, env.Audit.Mark(t))
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected a restart not to take back what was said, got:\n%s", writes)
	}
	s.patch(quota, `{"spec":{"hard":{"pods":"5"}}}`)
	s.awaitReady(3)
}

func TestAnObjectOfAnotherOwnerWithOurNameIsLeftAloneAndReported(t *testing.T) {
	helm := map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 81}}}}
	pods := &appsv1.Deployment{}
	pods.Spec.Selector = metav1Selector("theirs")
	pods.Spec.Template.Labels = pods.Spec.Selector.MatchLabels
	pods.Spec.Template.Spec.Containers = []corev1.Container{{Name: "theirs", Image: "theirs:1"}}
	for kind, theirs := range map[string]client.Object{"Service": service, "Deployment": pods} {
		t.Run(kind, func(t *testing.T) {
			s := newShop(t)
			theirs.SetNamespace(s.ns)
			theirs.SetName("web")
			theirs.SetLabels(helm)
			if err := env.Client.Create(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			before := theirs.DeepCopyObject().(client.Object)
			s.create(1, withPorts(http))
			s.await(ready, "False NameTaken", kind+" "+s.ns+"/web", "belongs to Helm")
			s.await(children, "False NameTaken")
			s.read(theirs)
			if diff := cmp.Diff(declared(before), declared(theirs)); diff != "" || theirs.GetUID() != before.GetUID() {
				t.Errorf("expected their %s as it was (-expected +found):\n%s", kind, diff)
			}
			if kind == "Service" {
				s.await(rolled, "True AllPodsReady")
			}
			env.Settled(t, env.Audit.Mark(t))
			if err := env.Client.Delete(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			s.edit(withSize(2)) // without this edit, it could take a minute until opcrew tries to use the name again
			s.awaitReady(2)
		})
	}
}

func TestAPausedObjectChangesNothingAndSaysSo(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	s.edit(annotated("opcrew.io/paused", "true"))
	s.await("Paused", "True Paused", "0 changes are held back")
	mark := env.Audit.Mark(t)
	s.edit(withSize(1), withImage("nginx:1.27"), withPorts())
	a := s.await(ready, "False Paused", "changes are held back")
	if a.Status.Replicas != 2 || a.Status.ReadyReplicas != 2 {
		t.Errorf("expected the status to tell of the two pods that there are, got %+v", a.Status)
	}
	if writes := childWrites(env.Settled(t, mark)); len(writes) > 0 {
		t.Errorf("expected no write while it is paused but its status, got:\n%s", writes)
	}
	s.edit(annotated("opcrew.io/paused", "false"))
	s.awaitReady(1)
	if s.there(&corev1.Service{}) {
		t.Error("expected the Service to go with the ports once the pause is over")
	}
}
