// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/opcrew/opcrew/api/common"
)

func metav1Selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"example.com/app": app}}
}

func TestADeletedObjectLeavesNothingOfOursAndChangesNothingOfOthers(t *testing.T) {
	s := newShop(t)
	others := &corev1.ConfigMap{Data: map[string]string{"a": "b"}}
	others.Namespace, others.Name, others.Labels = s.ns, "others", map[string]string{"app.kubernetes.io/part-of": "web"}
	neighbour := s.named(t, "web2")
	neighbour.create(1, withPorts(http))
	neighbour.awaitReady(1)
	if err := env.Client.Create(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	s.create(2, withPorts(http))
	s.awaitReady(2)
	if got := s.all(); len(got) != 6 {
		t.Errorf("expected 3 children, a ReplicaSet and 2 pods, got %v", got)
	}
	env.Settled(t, env.Audit.Mark(t))
	theirs, version := neighbour.all(), others.ResourceVersion
	mark := env.Audit.Mark(t)
	s.delete()
	s.awaitNothing()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected the garbage collector to do it all, the operator wrote:\n%s", writes)
	}
	if fmt.Sprint(neighbour.all()) != fmt.Sprint(theirs) {
		t.Errorf("expected the neighbour to keep %v, got %v", theirs, neighbour.all())
	}
	s.named(t, "others").read(others)
	if others.ResourceVersion != version {
		t.Errorf("expected what belongs to others to be as it was, got %+v", others)
	}
}

func TestAnObjectDeletedAndMadeAgainAtOnceIsOnlyReadyWithPodsOfItsOwn(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	old := s.all()
	for range 3 {
		s.delete()
		s.create(2, withPorts(http))
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

func TestDeletedChildrenAreRecreated(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	for _, object := range theirs {
		env.Settled(t, env.Audit.Mark(t))
		s.read(object.object)
		uid := object.object.GetUID()
		mark := env.Audit.Mark(t)
		if err := env.Client.Delete(t.Context(), object.object); err != nil {
			t.Fatal(err)
		}
		env.Settled(t, mark)
		s.recovers(2)
		s.read(object.object)
		if object.object.GetUID() == uid {
			t.Errorf("expected another %T, got the old one", object.object)
		}
		if writes := childWrites(env.Settled(t, mark)); len(writes) != 1 {
			t.Errorf("expected one write to recreate a %T, got:\n%s", object.object, writes)
		}
	}
}

// An upgrade of opcrew that changes default values in pod templates must not restart any pods of users.
func TestPodsOfAnEarlierVersionStayUntilTheUserAsksForOthers(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	env.Settled(t, env.Audit.Mark(t))
	s.operator.Stop()
	s.becomesOld()
	s.operator.Start()
	s.recovers(2)
	env.Settled(t, env.Audit.Mark(t))
	pods := s.all()
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected a newer version to write nothing, got:\n%s", writes)
	}
	s.scale(3)
	s.awaitReady(3)
	atAnyNode := http
	atAnyNode.NodePort = new(int32(0))
	s.edit(withPorts(atAnyNode))
	s.awaitReady(3)
	s.expectPeriod(7)
	for name, uid := range pods {
		if s.all()[name] != uid {
			t.Errorf("expected %s to be left alone by an upgrade, a change of size and a nodePort", name)
		}
	}
	s.edit(withImage(placeholder))
	s.await(ready, "False InvalidImage")
	s.edit(withImage("nginx:1.26"))
	s.awaitReady(3)
	s.expectPeriod(7)
	s.edit(withImage("nginx:1.27"))
	s.awaitReady(3)
	s.expectPeriod(5)
}

// becomesOld makes the Deployment look as if an opcrew version that probed every 7 seconds had created it.
func (s *shop) becomesOld() {
	s.Helper()
	d := &appsv1.Deployment{}
	s.read(d)
	if got := s.hash(d, d.Annotations[common.PinnedAnnotation]); got != d.Annotations[common.AppliedAnnotation] {
		s.Fatalf("the hash of a declaration is made otherwise: expected %s, got %s", d.Annotations[common.AppliedAnnotation], got)
	}
	key, _, _ := strings.Cut(d.Annotations[common.PinnedAnnotation], ".")
	d.Annotations[common.PinnedAnnotation] = key + ".0123456789abcdef"
	d.Annotations[common.AppliedAnnotation] = s.hash(d, d.Annotations[common.PinnedAnnotation])
	d.Spec.Template.Spec.Containers[0].ReadinessProbe.PeriodSeconds = 7
	if err := env.Client.Update(s.Context(), d); err != nil {
		s.Fatal(err)
	}
}

// hash returns a hash of everything that opcrew declares for a Deployment, except its pod template.
func (s *shop) hash(d *appsv1.Deployment, pinned string) string {
	s.Helper()
	ac, err := appsv1ac.ExtractDeployment(d, common.Name)
	if err != nil {
		s.Fatal(err)
	}
	delete(ac.Annotations, common.AppliedAnnotation)
	ac.Annotations[common.PinnedAnnotation], ac.Spec.Template = pinned, nil
	raw, err := json.Marshal(ac)
	if err != nil {
		s.Fatal(err)
	}
	var sorted map[string]any
	if err := json.Unmarshal(raw, &sorted); err != nil {
		s.Fatal(err)
	}
	if raw, err = json.Marshal(sorted); err != nil {
		s.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

func (s *shop) expectPeriod(seconds int32) {
	s.Helper()
	d := &appsv1.Deployment{}
	s.read(d)
	if got := d.Spec.Template.Spec.Containers[0].ReadinessProbe.PeriodSeconds; got != seconds {
		s.Errorf("expected pods that are probed every %d s, got %d s", seconds, got)
	}
}
