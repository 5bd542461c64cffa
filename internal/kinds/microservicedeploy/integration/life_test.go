// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var everything = []option{withReplicas(2), withConfig("a=1"), autoscaled(true), asks("100m"), needAuth(true), hosted("v1")}

func TestDeletionLeavesNothingOfOursAndChangesNothingOfOthers(t *testing.T) {
	s := newShop(t)
	others := &corev1.ConfigMap{Data: map[string]string{"a": "b"}}
	others.Name, others.Labels = "others", map[string]string{"app.kubernetes.io/part-of": "opcrew"}
	s.make(others)
	neighbour := s.named("neighbour")
	neighbour.create(hosted("v9"))
	neighbour.awaitReady(1)
	s.create(everything...)
	s.awaitReady(2)
	s.settled()
	if got := s.all(); len(got) != 11 {
		t.Errorf("expected 8 children, a ReplicaSet and 2 pods, got %d: %v", len(got), got)
	}
	theirs := neighbour.all()
	s.delete()
	s.awaitNothing()
	s.settled()
	if fmt.Sprint(neighbour.all()) != fmt.Sprint(theirs) {
		t.Errorf("expected the neighbour to keep %v, got %v", theirs, neighbour.all())
	}
	s.tenantsQuota().awaitHard("2", "")
	if !s.named("opcrew-basic-auth").there(&corev1.Secret{}) {
		t.Error("expected the tenant's credentials to stay for as long as there is an instance")
	}
	neighbour.delete()
	neighbour.awaitNothing()
	operator.Until(t, "nothing of ours is left in the namespace", func() error {
		if left := s.objects(map[string]string{common.ManagedByLabel: common.Name}); len(left) > 0 {
			return fmt.Errorf("there is %v", left)
		}
		return nil
	})
	version := others.ResourceVersion
	if s.named("others").read(others); others.ResourceVersion != version {
		t.Errorf("expected what belongs to others to be as it was, got %+v", others)
	}
	env.Rests(t)
}

func TestAnObjectDeletedAndMadeAgainAtOnceIsOnlyReadyWithPodsOfItsOwn(t *testing.T) {
	s := newShop(t)
	s.create(everything...)
	s.awaitReady(2)
	old := s.all()
	for range 3 {
		s.delete()
		s.create(everything...)
		s.awaitReady(2)
		now := s.all()
		for child, uid := range old {
			if now[child] == uid && !strings.HasPrefix(child, "Pod ") { // old pods may still be terminating
				t.Errorf("it is Ready with %s of its predecessor", child)
			}
		}
		old = now
	}
}

func TestFullNameNamesTheChildrenAndASecondClaimantIsReported(t *testing.T) {
	s := newShop(t)
	s.name = "object"
	s.create(fullName("children"))
	s.await(ready, "True AllPodsReady")
	if got := s.named("children").all(); len(got) != 5 {
		t.Errorf("expected Service, ServiceAccount, Deployment, ReplicaSet and pod of that name, got %v", got)
	}
	second := s.named("second")
	second.create(fullName("children"))
	second.await(ready, "False NameTaken", "Service "+s.ns+"/children already exists and belongs to MicroServiceDeploy object")
	third := s.named("children")
	third.create()
	third.await(ready, "False NameTaken", "belongs to MicroServiceDeploy object")
	s.settled()
	s.await(ready, "True AllPodsReady")
	s.delete()
	operator.Until(t, "the first is gone", func() error {
		if s.there(&instance{}) {
			return fmt.Errorf("it is there")
		}
		return nil
	})
	third.delete()
	// An edit starts a reconcile at once. Without this edit, the test would wait up to a minute until opcrew notices
	// that the name "children" is free.
	second.edit(withReplicas(2))
	second.await(ready, "True AllPodsReady", "2 of 2")
}

func TestATakenNodePortIsReportedWithItsHolderAndThePodsRunAllTheSame(t *testing.T) {
	s := newShop(t)
	holder := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30211}}}}
	holder.Namespace, holder.Name = env.Namespace(t), "first"
	s.make(holder)
	s.create(atNodes(30211))
	s.await(ready, "False NodePortTaken", "nodePort 30211 is in use in another namespace", "0 for any free port")
	s.await(rolled, "True AllPodsReady")
	if err := env.Client.Delete(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	s.awaitReady(1) // opcrew must retry without a change of the spec
}

func TestABadImageNeverTakesRunningPodsAway(t *testing.T) {
	s := newShop(t)
	s.create(everything...)
	s.awaitReady(2)
	s.settled()
	pods := s.all()
	mark := env.Audit.Mark(t)
	s.edit(withImage(placeholder))
	s.await(ready, "False InvalidImage", "spec.image", placeholder, "the 2 running pods stay unchanged")
	s.await("Available", "True Serving")
	s.edit(withImage(oldImage))
	s.awaitReady(2)
	if writes := childWrites(env.Settled(t, mark)); len(writes) > 0 {
		t.Errorf("expected a bad image and its correction to write no child, got:\n%s", writes)
	}
	s.edit(withImage(testenv.MissingImage))
	m := s.await(ready, "False PodsNotReady", "0 of 2 new pods are ready, and 2 old pods still serve requests", "container app: ImagePullBackOff")
	if m.Status.ReadyReplicas != 2 {
		t.Errorf("expected the old pods to serve, got %+v", m.Status)
	}
	s.edit(withImage(oldImage))
	s.awaitReady(2)
	for name, uid := range s.all() {
		if pods[name] != uid && !strings.HasPrefix(name, "ReplicaSet ") {
			t.Errorf("expected %s to be left alone", name)
		}
	}
}

// An upgrade of opcrew that changes default values in pod templates must not restart any pods of users.
func TestPodsOfAnEarlierVersionStayUntilTheUserAsksForOthers(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), needAuth(true))
	s.awaitReady(2)
	s.settled()
	s.operator.Stop()
	s.becomesOld()
	s.operator.Start()
	s.settled()
	s.awaitReady(2)
	pods := s.all()
	s.edit(withReplicas(3), hosted("v1"), atNodes(0))
	s.edit(func(m *instance) { m.Spec.Ports = nil })
	s.awaitReady(3)
	s.edit(withImage(placeholder))
	s.await(ready, "False InvalidImage")
	s.edit(withImage(oldImage))
	s.awaitReady(3)
	s.settled()
	for name, uid := range pods {
		if s.all()[name] != uid {
			t.Errorf("expected %s to be left alone by an upgrade, a change of size, a host name and a bad image", name)
		}
	}
	s.edit(withImage(newImage))
	s.awaitReady(3)
	if got := s.template().Spec.Containers[1].Image; got != "opcrew/opcrew-agent:test" {
		t.Errorf("expected the new agent with the user's change, got %s", got)
	}
}

// becomesOld makes the Deployment look as if an opcrew version with another agent image had created it.
func (s *shop) becomesOld() {
	s.Helper()
	d := &appsv1.Deployment{}
	s.read(d)
	key, _, _ := strings.Cut(d.Annotations[common.PinnedAnnotation], ".")
	d.Annotations[common.PinnedAnnotation] = key + ".0123456789abcdef"
	d.Spec.Template.Spec.Containers[1].Image = "opcrew/opcrew-agent:old"
	if err := env.Client.Update(s.Context(), d); err != nil {
		s.Fatal(err)
	}
}

func TestAPausedObjectChangesNothingAndSaysSo(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), withConfig("a=1"))
	s.awaitReady(2)
	s.settled()
	s.edit(annotated("opcrew.io/paused", "true"))
	s.await("Paused", "True Paused", "0 changes are held back")
	s.settled()
	mark := env.Audit.Mark(t)
	s.edit(withImage(newImage), withConfig("a=2"), hosted("v1"))
	m := s.await(ready, "False Paused", "changes are held back")
	if m.Status.ReadyReplicas != 2 || s.running(oldImage) != 2 {
		t.Errorf("expected the two pods that there are, got %+v", m.Status)
	}
	if writes := env.Settled(t, mark); len(ownWrites(writes)) > 0 {
		t.Errorf("expected no write while it is paused but its status, got:\n%s", writes)
	}
	s.edit(annotated("opcrew.io/paused", "false"))
	s.awaitReady(2)
}
