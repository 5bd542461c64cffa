// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestFromCreationToReadyThereIsOneWriteAChildAndTwoOfStatus(t *testing.T) {
	s := newShop(t)
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	s.create(2)
	s.awaitReady(2)
	writes := env.Settled(t, mark).Writes()
	t.Logf("writes: %v", writes.Tally())
	want := map[string]int{
		"patch services": 2, "patch configmaps": 1, "create secrets": 2, "patch persistentvolumeclaims": 2, "patch networkpolicies": 1,
		"patch poddisruptionbudgets": 1, "patch statefulsets": 1, "patch deployments": 1, "patch divas/status": 2,
	}
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

func TestClientsComeAndGoAndTheInventoryIsAhead(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	list := &corev1.ConfigMap{}
	for _, n := range []int32{5, 3} {
		mark := env.Audit.Mark(t)
		s.edit(withClients(n))
		s.awaitReady(int(n))
		var order []string
		for _, call := range env.Settled(t, mark).Writes() {
			if call.Resource == "configmaps" || call.Resource == "statefulsets" {
				order = append(order, call.Resource)
			}
		}
		if diff := cmp.Diff([]string{"configmaps", "statefulsets"}, order); diff != "" {
			t.Errorf("to %d clients: expected the inventory first (-expected +found):\n%s", n, diff)
		}
		s.read("ops-inventory", list)
		want := fmt.Sprintf("ops-client-%d ansible_host=ops-client-%d.ops-client.%s.svc\n\n[clients:vars]", n-1, n-1, s.ns)
		if got := list.Data["hosts"]; !contains(got, want) {
			t.Errorf("expected the last of %d clients to be the last of the inventory, got %s", n, got)
		}
	}
	if got := len(s.claims()); got != 7 {
		t.Errorf("expected the claims of clients that went to be kept, got %v", s.claims())
	}
}

func TestTheDataIsKeptOnDeletionAndHadAgainByADivaOfTheName(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	before := s.claimUIDs()
	s.clear()
	if diff := cmp.Diff(before, s.claimUIDs()); diff != "" {
		t.Fatalf("expected all claims to stay (-before +after):\n%s", diff)
	}
	s.create(2)
	s.awaitReady(2)
	if diff := cmp.Diff(before, s.claimUIDs()); diff != "" {
		t.Errorf("expected the claims to be had again (-before +after):\n%s", diff)
	}
}

func TestAnObjectThatIsHeldWhileItGoesSaysSoInItsMessageToo(t *testing.T) {
	s := newShop(t)
	s.create(1, func(d *opsv1.Diva) { d.Finalizers = []string{"example.com/hold"} })
	s.awaitReady(1)
	if err := env.Client.Delete(t.Context(), s.get()); err != nil {
		t.Fatal(err)
	}
	d := s.await(opsv1.DivaReady, "False Deleting", "example.com/hold")
	if !contains(d.Status.Message, "example.com/hold") {
		t.Errorf("expected the message to follow Ready, got %q", d.Status.Message)
	}
	s.edit(func(d *opsv1.Diva) { d.Finalizers = nil })
}

func TestABadImageNeverBlocksItsOwnRollback(t *testing.T) {
	s := newShop(t)
	s.create(3)
	s.awaitReady(3)
	kept := s.uids("client")[:2]
	s.edit(withClientImage("missing.invalid/client:2"), withManagerImage("missing.invalid/diva:2"))
	s.await(opsv1.DivaClientsReady, "False PodsNotReady", "ops-client-2", "ImagePullBackOff")
	s.await(opsv1.DivaManagerReady, "False PodsNotReady", "ImagePullBackOff")
	s.edit(withClientImage("diva-client:v0.0.1"), withManagerImage("diva:v1.1"))
	s.awaitReady(3)
	if diff := cmp.Diff(kept, s.uids("client")[:2]); diff != "" {
		t.Errorf("expected the clients that ran to go on (-before +after):\n%s", diff)
	}
}

func TestTextThatIsNoImageIsReportedAndReplacesNothing(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	clients, managers := s.uids("client"), s.uids("manager")
	s.edit(withClientImage("Not An:image"), withManagerImage("nor:this one"))
	s.await(opsv1.DivaReady, "False InvalidImage", "spec.client.image", "running pods stay unchanged")
	s.await(opsv1.DivaManagerReady, "False InvalidImage", "spec.manager.image")
	s.edit(withClientImage("diva-client:v0.0.1"), withManagerImage("diva:v1.1"))
	s.awaitReady(2)
	env.Settled(t, env.Audit.Mark(t))
	if diff := cmp.Diff([]any{clients, managers}, []any{s.uids("client"), s.uids("manager")}); diff != "" {
		t.Errorf("expected all pods to go on (-before +after):\n%s", diff)
	}
}

func TestAStatefulSetThatAUserDeletesIsRecreated(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "ops-client"}}
	if err := env.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	s.awaitReady(2)
}

// When a client pod becomes ready or unready, opcrew writes the status at most twice, and no write fails with a
// conflict.
func TestFlappingClientsCostTwoWritesATransitionAndNoConflict(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	env.Settled(t, env.Audit.Mark(t))
	mark, transitions := env.Audit.Mark(t), 0
	for range 3 {
		for _, ready := range []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue} {
			text := map[corev1.ConditionStatus]string{corev1.ConditionFalse: "1/2", corev1.ConditionTrue: "2/2"}[ready]
			pod := s.pods("client")[0]
			setReadiness(&pod, ready)
			if err := env.Client.Status().Update(t.Context(), &pod); err != nil {
				t.Fatal(err)
			}
			transitions++
			operator.Until(t, "clients are "+text, func() error {
				if got := s.get().Status.Clients; got != text {
					return fmt.Errorf("they are %s", got)
				}
				return nil
			})
		}
	}
	calls := env.Settled(t, mark)
	writes := calls.Where(func(c testenv.Call) bool { return c.Resource == "divas" && c.Verb == "patch" })
	if len(writes) > 2*transitions {
		t.Errorf("expected at most 2 writes of the status for each of %d transitions, got %d:\n%s", transitions, len(writes), writes)
	}
	if refused := calls.Where(func(c testenv.Call) bool { return c.Code == 409 }); len(refused) > 0 {
		t.Errorf("expected no conflict, got:\n%s", refused)
	}
	t.Logf("%d transitions, %d writes of the status", transitions, len(writes))
}

func setReadiness(pod *corev1.Pod, ready corev1.ConditionStatus) {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			pod.Status.Conditions[i].Status = ready
		}
	}
}
