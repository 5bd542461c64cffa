// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
)

func TestAPodWakesTheInstanceThatItsLabelsName(t *testing.T) {
	m := newInstance(of("object"))
	m.Spec.FullName = "children"
	pod := &corev1.Pod{}
	pod.Namespace, pod.Labels = "shop", names.Identity(m).Labels
	if got := objectByLabels(t.Context(), pod); len(got) != 1 || got[0] != request("shop", "object") {
		t.Errorf("expected shop/object to be woken, got %v", got)
	}
	pod.Labels = map[string]string{names.NameLabel: "appservice", names.ObjectLabel: "object"}
	if got := objectByLabels(t.Context(), pod); len(got) > 0 {
		t.Errorf("expected no one to be woken by a pod of another kind, got %v", got)
	}
}

func TestOnlyWhatAQuotaAllowsWakesInstances(t *testing.T) {
	old := &corev1.ResourceQuota{}
	old.Spec.Hard, old.Status.Hard, old.Status.Used = amountsOf("pods=4"), amountsOf("pods=4"), amountsOf("pods=1")
	used, raised, inForce := old.DeepCopy(), old.DeepCopy(), old.DeepCopy()
	used.Status.Used, raised.Spec.Hard, inForce.Status.Hard = amountsOf("pods=2"), amountsOf("pods=5"), amountsOf("pods=5")
	for name, test := range map[string]struct {
		now  *corev1.ResourceQuota
		want bool
	}{"nothing": {old.DeepCopy(), false}, "use": {used, false}, "spec": {raised, true}, "in force": {inForce, true}} {
		if got := quotaChanged.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: test.now}); got != test.want {
			t.Errorf("a change of %s: expected it to wake: %v, got %v", name, test.want, got)
		}
	}
}

func TestRivalsAreWokenWhenClaimsChange(t *testing.T) {
	old := newInstance(hosted("v1"))
	scaled, insisting, elsewhere, holding := old.DeepCopy(), old.DeepCopy(), old.DeepCopy(), old.DeepCopy()
	holding.Status.Hosts = []string{"shop.example.com"}
	withReplicas(9)(scaled)
	isCurrent(insisting)
	hosted("v2")(elsewhere)
	for name, test := range map[string]struct {
		change event.UpdateEvent
		want   bool
	}{
		"size":    {event.UpdateEvent{ObjectOld: old, ObjectNew: scaled}, false},
		"current": {event.UpdateEvent{ObjectOld: old, ObjectNew: insisting}, true},
		"path":    {event.UpdateEvent{ObjectOld: old, ObjectNew: elsewhere}, true},
		"hold":    {event.UpdateEvent{ObjectOld: old, ObjectNew: holding}, true}, // an older rival may give up the host then
	} {
		if got := claimsChanged.Update(test.change); got != test.want {
			t.Errorf("a change of %s: expected it to wake: %v, got %v", name, test.want, got)
		}
	}
}
