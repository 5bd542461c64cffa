// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// hash ends the names of configurations.
const hash = "-0123456789abcdef0123456789abcdef"

func newPool(name, label string) *mcfgv1.MachineConfigPool {
	p := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{label: ""}}
	p.Spec.Configuration.Name = "rendered-" + name + hash
	return p
}

func newNode(name string, labels ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}}
	for _, l := range labels {
		n.Labels[l] = ""
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}}
	return n
}

func only(t *testing.T, n *corev1.Node, pools ...*mcfgv1.MachineConfigPool) *rollout.Node {
	t.Helper()
	f := Fleet{Pools: pools, Nodes: []*corev1.Node{n}}
	return f.Cluster(now).Nodes[0]
}

func TestAnEmptySelectorSelectsNothing(t *testing.T) {
	for name, selector := range map[string]*metav1.LabelSelector{"none": nil, "empty": {}} {
		if Selector(selector).Matches(labelsOf(newNode("n", "a"))) {
			t.Errorf("expected selector %q to select nothing", name)
		}
	}
}

func TestACustomPoolTakesANodeFromWorker(t *testing.T) {
	worker, custom := newPool("worker", "w"), newPool("gold", "g")
	if got := only(t, newNode("n", "w", "g"), worker, custom).Primary(); got != "gold" {
		t.Errorf("expected pool gold to configure the node, got %q", got)
	}
}

func TestAConfigurationOfAnotherPoolIsNoTarget(t *testing.T) {
	p := newPool("gold", "g")
	p.Spec.Configuration.Name = "rendered-silver" + hash
	if got := Target(p); got != "" {
		t.Errorf("expected no target, got %q", got)
	}
}

func TestAPoolDoesNotTakeTheConfigurationOfAPoolWithALongerName(t *testing.T) {
	p := newPool("worker", "w")
	for _, name := range []string{"rendered-worker-gpu" + hash, "rendered-worker-1", "rendered-worker" + strings.ToUpper(hash), "rendered-worker" + hash + "0", "rendered-worker-"} {
		p.Spec.Configuration.Name = name
		if got := Target(p); got != "" {
			t.Errorf("expected no target of pool worker, got %q", got)
		}
	}
	p.Spec.Configuration.Name = "rendered-worker" + hash
	if got := Target(p); got != p.Spec.Configuration.Name {
		t.Errorf("expected %q, got %q", p.Spec.Configuration.Name, got)
	}
}

func TestACordonBelongsToOpcrewOnlyWithItsRecord(t *testing.T) {
	n := newNode("n", "g")
	n.Spec.Unschedulable = true
	if got := only(t, n, newPool("gold", "g")).Cordon; got != rollout.Foreign {
		t.Errorf("expected a foreign cordon, got %q", got)
	}
	n.Annotations[nodepatch.CordonAnnotation] = "2026-11-25T12:00:00Z"
	if got := only(t, n, newPool("gold", "g")).Cordon; got != rollout.Ours {
		t.Errorf("expected opcrew's cordon, got %q", got)
	}
	n.Spec.Unschedulable = false
	if got := only(t, n, newPool("gold", "g")).Cordon; got != rollout.NotCordoned {
		t.Errorf("expected no cordon, got %q", got)
	}
}

func settled(n *corev1.Node, config string) *corev1.Node {
	n.Annotations[machineorder.CurrentConfig], n.Annotations[machineorder.DesiredConfig] = config, config
	n.Annotations[machineorder.State] = machineorder.StateDone
	return n
}

func TestHealthCountsFromTheRecordedTime(t *testing.T) {
	p := newPool("gold", "g")
	n := settled(newNode("n", "g"), "rendered-gold"+hash)
	if got := only(t, n, p).Health; !got.Met || !got.Applied.Equal(now) {
		t.Errorf("expected a node without a record to have just completed its update, got %+v", got)
	}
	n.Annotations[nodepatch.UpdatedAnnotation] = nodepatch.Stamp("rendered-gold"+hash, now.Add(-time.Minute))
	if got := only(t, n, p).Health; !got.Applied.Equal(now.Add(-time.Minute)) {
		t.Errorf("expected the recorded time, got %+v", got)
	}
}

func TestAGateWithAConditionThatTheNodeLacksIsNotMet(t *testing.T) {
	p := newPool("gold", "g")
	p.Spec.Rollout = &mcfgv1.Rollout{HealthGate: &mcfgv1.HealthGate{Conditions: []mcfgv1.NodeConditionStatus{{Type: "Ready", Status: "True"}, {Type: "Storage", Status: "True"}}}}
	if got := only(t, settled(newNode("n", "g"), "rendered-gold"+hash), p).Health; got.Met {
		t.Errorf("expected an unmet gate, got %+v", got)
	}
}

// canariesOf returns which of the nodes a, b and c of a pool are canary nodes; a and c have the label x.
func canariesOf(canary mcfgv1.Canary) string {
	p := newPool("gold", "g")
	p.Spec.Rollout = &mcfgv1.Rollout{Canary: &canary}
	f := Fleet{Pools: []*mcfgv1.MachineConfigPool{p}, Nodes: []*corev1.Node{newNode("c", "g", "x"), newNode("a", "g", "x"), newNode("b", "g"), newNode("0", "x")}}
	var out []string
	for _, n := range f.Cluster(now).Nodes {
		if n.Canary {
			out = append(out, n.Name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestTheCanariesAreThoseThatTheSelectorMatchesOrTheFirstByName(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"x": ""}}
	for name, c := range map[string]struct {
		canary mcfgv1.Canary
		want   string
	}{
		"by default, the first by name": {mcfgv1.Canary{}, "a"},
		"as many as count":              {mcfgv1.Canary{Count: new(int32(2))}, "a b"},
		"all that the selector matches": {mcfgv1.Canary{NodeSelector: selector}, "a c"},
	} {
		if got := canariesOf(c.canary); got != c.want {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}

func TestAllNodesThatTheSelectorSelectsAreCanaries(t *testing.T) {
	p := newPool("gold", "g")
	p.Spec.Rollout = &mcfgv1.Rollout{Canary: &mcfgv1.Canary{NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"first": ""}}}}
	f := Fleet{Pools: []*mcfgv1.MachineConfigPool{p}, Nodes: []*corev1.Node{newNode("c", "g", "first"), newNode("a", "g"), newNode("b", "g", "first")}}
	got := map[string]bool{}
	for _, n := range f.Cluster(now).Nodes {
		got[n.Name] = n.Canary
	}
	if !got["b"] || !got["c"] || got["a"] {
		t.Errorf("expected b and c to be canary nodes, got %v", got)
	}
}
