// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const (
	readyType   = cachev1alpha1.MemcachedReady
	serversType = cachev1alpha1.MemcachedServersReady
)

// expectImage expects every pod to run the given image.
func (s *shop) expectImage(image string) {
	s.Helper()
	pods := &corev1.PodList{}
	if err := env.Client.List(s.Context(), pods, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	for _, pod := range pods.Items {
		if got := pod.Spec.Containers[0].Image; got != image {
			s.Errorf("expected pod %s to run %s, got %s", pod.Name, image, got)
		}
	}
}

func TestABadImageIsNamedKeepsTheOtherServersAndDoesNotBlockItsRollback(t *testing.T) {
	s := newShop(t)
	s.create(3)
	s.awaitReady(3)
	for _, back := range []string{"", "memcached:1.6.39"} {
		s.edit(withImage(testenv.MissingImage))
		m := s.await(readyType, "False ServersNotReady", "2 of 3 servers answer", "web-2", "ImagePullBackOff", testenv.MissingImage)
		if m.Status.ReadyReplicas != 2 || len(m.Status.Servers) != 3 {
			t.Errorf("expected the ring to stay and two servers to answer, got %+v", m.Status)
		}
		env.Settled(t, env.Audit.Mark(t))
		s.saysOtherwise("web-2", "InvalidImageName")
		s.await(readyType, "False ServersNotReady", "web-2", "InvalidImageName")
		s.edit(withImage(back))
		s.awaitReady(3)
	}
	s.expectImage("memcached:1.6.39")
}

// saysOtherwise changes the pod's status as the kubelet would. The StatefulSet's status stays the same.
func (s *shop) saysOtherwise(name, reason string) {
	s.Helper()
	pod := &corev1.Pod{}
	s.read(name, pod)
	pod.Status.ContainerStatuses[0].State.Waiting.Reason = reason
	if err := env.Client.Status().Update(s.Context(), pod); err != nil {
		s.Fatal(err)
	}
}

func TestAnObjectThatBeginsWithABadImageRecoversWhenItIsCorrected(t *testing.T) {
	s := newShop(t)
	s.create(2, withImage(testenv.MissingImage))
	s.await(readyType, "False ServersNotReady", "0 of 2 servers answer; web-0: container memcached: ImagePullBackOff")
	s.edit(withImage("memcached:1.6.38"))
	s.awaitReady(2)
	s.expectImage("memcached:1.6.38")
}

func TestARefusalByAQuotaIsQuotedAndWorkContinuesWhenItIsLifted(t *testing.T) {
	s := newShop(t)
	quota := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("2")}}}
	quota.Namespace, quota.Name = s.ns, "small"
	if err := env.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the quota is in force", func() error {
		s.read("small", quota)
		if len(quota.Status.Hard) == 0 {
			return fmt.Errorf("its status is %+v", quota.Status)
		}
		return nil
	})
	s.create(3)
	m := s.await(readyType, "False ServersMissing", "1 of 3 servers cannot be created", "exceeded quota: small")
	if m.Status.ReadyReplicas != 2 {
		t.Errorf("expected the two servers that the quota allows to answer, got %d", m.Status.ReadyReplicas)
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

	// Regression test: while a deleted pod was being recreated, the status reported the quota error of an earlier
	// attempt.
	watched := s.reasons(serversType)
	pod := &corev1.Pod{}
	s.read("web-1", pod)
	if err := env.Client.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	env.Settled(t, env.Audit.Mark(t))
	s.awaitReady(3)
	if got := watched(); strings.Contains(got, "ServersMissing") {
		t.Errorf("expected no word of the old refusal while a pod is recreated, got %s", got)
	}
}

// reasons records every reason that a condition gets from now on. The returned function stops recording and returns the
// reasons.
func (s *shop) reasons(kind string) func() string {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	watch, err := env.Client.Watch(ctx, &cachev1alpha1.MemcachedList{}, client.InNamespace(s.ns))
	if err != nil {
		s.Fatal(err)
	}
	seen, done := "", make(chan struct{})
	go func() {
		defer close(done)
		for event := range watch.ResultChan() {
			if m, ok := event.Object.(*cachev1alpha1.Memcached); ok {
				for _, c := range m.Status.Conditions {
					if c.Type == kind {
						seen += " " + c.Reason
					}
				}
			}
		}
	}()
	return func() string {
		time.Sleep(100 * time.Millisecond) // the last event may not have arrived yet
		watch.Stop()
		cancel()
		<-done
		return seen
	}
}

func TestAnotherOwnersServiceIsLeftAloneAndNamed(t *testing.T) {
	s := newShop(t)
	theirs := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	theirs.Namespace, theirs.Name, theirs.Labels = s.ns, "web", map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	if err := env.Client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	s.create(1)
	s.await(readyType, "False NameTaken", "Service "+s.ns+"/web", "belongs to Helm")
	s.await(cachev1alpha1.MemcachedChildrenReady, "False NameTaken")
	s.await(serversType, "True AllServersReady")
	found := &corev1.Service{}
	s.read("web", found)
	if found.UID != theirs.UID || found.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("expected their Service as it was, got %+v", found)
	}
	env.Settled(t, env.Audit.Mark(t))
	if err := env.Client.Delete(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	s.edit(withSize(2)) // without this edit, opcrew might create the Service only a minute later
	s.awaitReady(2)
}

func TestAPausedObjectChangesNothingAndSaysSo(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	s.edit(annotated(pause, "true"))
	s.await("Paused", "True Paused", "0 changes are held back")
	mark := env.Audit.Mark(t)
	s.edit(withSize(3), withImage("memcached:1.6.39"))
	m := s.await(readyType, "False Paused", "2 changes are held back")
	if m.Status.Replicas != 2 || len(m.Status.Nodes) != 2 {
		t.Errorf("expected the status to show the two servers that exist, got %+v", m.Status)
	}
	if writes := env.Settled(t, mark).Writes(); len(writes) != len(writes.On("memcacheds/status")) {
		t.Errorf("expected no write while it is paused but its status, got:\n%s", writes)
	}
	s.edit(annotated(pause, "false"))
	s.awaitReady(3)
	s.expectImage("memcached:1.6.39")
}

func (s *shop) delete() {
	s.Helper()
	if err := env.Client.Delete(s.Context(), s.get()); err != nil {
		s.Fatal(err)
	}
}

func TestADeletedObjectLeavesNothing(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	if n := len(s.children()); n != 7 {
		t.Errorf("expected 5 children and 2 pods, got %v", s.children())
	}
	mark := env.Audit.Mark(t)
	s.delete()
	s.awaitNothing()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected the garbage collector to do it all, the operator wrote:\n%s", writes)
	}
}

func TestAnObjectDeletedAndMadeAgainAtOnceIsOnlyReadyWithServersOfItsOwn(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	old := s.children()
	for range 3 {
		s.delete()
		s.create(2)
		s.awaitReady(2)
		now := s.children()
		for child, uid := range old {
			if now[child] == uid {
				t.Errorf("it is Ready with %s of its predecessor", child)
			}
		}
		if len(now) != 7 {
			t.Errorf("expected 5 children and 2 pods, got %v", now)
		}
		old = now
	}
}

// Regression test: the API server copies spec.serviceAccountName of a pod template to the deprecated field
// serviceAccount. When a user removed the account from the spec, the API server restored it from that copy.
func TestAnAccountThatIsTakenOutOfTheSpecIsTakenFromTheServers(t *testing.T) {
	s := newShop(t)
	s.create(1, func(m *cachev1alpha1.Memcached) {
		m.Spec.Pod = &common.PodOverride{ServiceAccountName: "missing-account"}
	})
	s.await(readyType, "False ServersMissing", "missing-account")
	s.edit(func(m *cachev1alpha1.Memcached) { m.Spec.Pod = nil })
	s.awaitReady(1)
	set := &appsv1.StatefulSet{}
	if s.read("web", set); set.Spec.Template.Spec.ServiceAccountName != "default" {
		t.Errorf("expected the servers to have the namespace's own account, got %q", set.Spec.Template.Spec.ServiceAccountName)
	}
}
