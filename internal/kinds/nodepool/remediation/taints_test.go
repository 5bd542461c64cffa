// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func isOut(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// fencedWorld returns a world in which n1 is fenced.
func fencedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	pooltest.HasTaint("theirs", "x", pooltest.NoSchedule)(w.node("n1"))
	w.run(time.Minute)
	if !Fenced(w.node("n1")) || !isOut(w.node("n1")) {
		t.Fatalf("expected n1 to be fenced, got %v", w.node("n1").Spec.Taints)
	}
	return w
}

func TestTheTaintsOfAFencedMachineGoWhen(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		pool   bool
	}{
		"it returns with a new boot":        {func(w *world) { w.up("n1", "second") }, true},
		"it has restarted but is not Ready": {func(w *world) { w.node("n1").Status.NodeInfo.BootID = "second" }, true},
		"no pool remediates it any longer":  {func(*world) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := fencedWorld(t)
			c.change(w)
			if !c.pool {
				w.pool = nil
			}
			w.mark("n1")
			pooltest.Same(t, "taints", []string{"theirs=x:NoSchedule"}, pooltest.TaintsOf(w.node("n1")))
			if w.mark("n1") {
				t.Error("expected no second write")
			}
		})
	}
}

func TestAKubeletThatReportsTroubleWithoutARestartEndsTheForce(t *testing.T) {
	w := fencedWorld(t)
	w.up("n1", "boot-of-n1")
	w.node("n1").Status.Conditions[0].Status = corev1.ConditionFalse
	w.mark("n1")
	if n := w.node("n1"); isOut(n) || !Fenced(n) {
		t.Errorf("expected only the mark that the machine answered, got %v", n.Spec.Taints)
	}
}

func TestAMachineThatAnswersWithoutARestartIsNeverForcedAgain(t *testing.T) {
	w := fencedWorld(t)
	w.up("n1", "boot-of-n1")
	w.mark("n1")
	want := []string{"theirs=x:NoSchedule", "opcrew.io/fenced=answered-" + bootMark(w.node("n1")) + ":NoSchedule"}
	pooltest.Same(t, "taints", want, pooltest.TaintsOf(w.node("n1")))
	v := w.step()
	if v.Record.Phase != nodesv1.RemediationFailed || !strings.Contains(v.Record.Message, "reports something false") {
		t.Errorf("expected the lie to be reported, got %+v", v.Record)
	}
	w.down("n1", w.now)
	w.now = w.now.Add(10 * time.Minute)
	w.run(10 * time.Minute)
	pooltest.Same(t, "taints after the next outage", want, pooltest.TaintsOf(w.node("n1")))
	if w.attempts() != 1 {
		t.Errorf("expected no further attempt, got %d", w.attempts())
	}
	w.up("n1", "second")
	w.mark("n1")
	pooltest.Same(t, "taints after the restart", []string{"theirs=x:NoSchedule"}, pooltest.TaintsOf(w.node("n1")))
}

func TestTheTaintsOfAFencedMachineAreRepaired(t *testing.T) {
	for _, key := range []string{nodesv1.FencedTaint, corev1.TaintNodeOutOfService} {
		w := fencedWorld(t)
		n := w.node("n1")
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == key })
		w.mark("n1")
		if !Fenced(n) || !isOut(n) {
			t.Errorf("expected %s to be repaired, got %v", key, n.Spec.Taints)
		}
	}
}

func TestOneTaintThatIsLeftAloneGoesWhenTheMachineReturns(t *testing.T) {
	w := fencedWorld(t)
	n := w.node("n1")
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == nodesv1.FencedTaint })
	w.up("n1", "second")
	w.mark("n1")
	pooltest.Same(t, "taints", []string{"theirs=x:NoSchedule"}, pooltest.TaintsOf(n))
}

func TestTheOutOfServiceTaintOfAnotherOwnerStays(t *testing.T) {
	w := fencedWorld(t)
	n := w.node("n1")
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, isOurs)
	pooltest.HasTaint(corev1.TaintNodeOutOfService, "nodeshutdown", corev1.TaintEffectNoExecute)(n)
	w.mark("n1")
	w.up("n1", "second")
	w.mark("n1")
	pooltest.Same(t, "taints", []string{"theirs=x:NoSchedule", "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"}, pooltest.TaintsOf(n))
}

// The cache can be older than the node. A patch that is based on it must not mark a machine that has returned.
func TestAPatchFromAnOldCacheIsRefused(t *testing.T) {
	for name, change := range map[string]func(n *corev1.Node){
		"the machine has restarted": func(n *corev1.Node) { n.Status.NodeInfo.BootID = "second" },
		"the node is Ready":         func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionTrue },
		"it is another outage": func(n *corev1.Node) {
			n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(n.Status.Conditions[0].LastTransitionTime.Add(time.Hour))
		},
		"the node is another one":    func(n *corev1.Node) { n.UID = "other" },
		"another client set a taint": func(n *corev1.Node) { pooltest.HasTaint("new", "", pooltest.NoSchedule)(n) },
		"its conditions are reordered": func(n *corev1.Node) {
			n.Status.Conditions = append([]corev1.NodeCondition{{Type: "Other", Status: corev1.ConditionUnknown}}, n.Status.Conditions...)
		},
	} {
		w := newWorld(t)
		w.run(30 * time.Second)
		old := w.node("n1").DeepCopy()
		old.Spec.Taints = nil
		patch, _, needed := Patch(old, w.pool)
		if !needed {
			t.Fatal("expected a patch")
		}
		live := old.DeepCopy()
		change(live)
		if _, err := pooltest.TryPatch(live, patch.Data); err == nil {
			t.Errorf("%s: expected the API server to refuse the patch %s", name, patch.Data)
		}
	}
}

func TestARecordOfAnotherOutageMarksNothing(t *testing.T) {
	w := newWorld(t)
	w.run(30 * time.Second)
	n := w.node("n1")
	for name, change := range map[string]func(n *corev1.Node){
		"another node of that name": func(n *corev1.Node) { n.UID = "other" },
		"another boot":              func(n *corev1.Node) { n.Status.NodeInfo.BootID = "second" },
		"a later outage":            func(n *corev1.Node) { n.Status.Conditions[0].LastTransitionTime.Time = w.now },
		"a node that is Ready":      func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionTrue },
		"a node of another owner":   pooltest.HasTaint(corev1.TaintNodeOutOfService, "", pooltest.NoExecute),
	} {
		other := n.DeepCopy()
		other.Spec.Taints = nil
		change(other)
		if _, _, needed := Patch(other, w.pool); needed {
			t.Errorf("%s: expected no taint", name)
		}
	}
}
