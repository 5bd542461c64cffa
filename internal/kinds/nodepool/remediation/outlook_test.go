// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

func TestAPoolSaysIfTooFewNodesAreReadyWheneverOneIsDead(t *testing.T) {
	for name, c := range map[string]struct {
		minHealthy *intstr.IntOrString
		nodes      int
		want       string
	}{
		"no node yet":                    {nil, 0, ""},
		"one node":                       {nil, 1, "The pool has one node, and a machine is fenced only while another node of its pool is Ready; add nodes"},
		"the default and two nodes":      {nil, 2, "spec.remediation.minHealthy (51% by default) requires 2 Ready nodes, and the pool has 2, so none is fenced when one of them is dead; lower minHealthy, or add nodes"},
		"the default and three nodes":    {nil, 3, ""},
		"a number below that of nodes":   {new(intstr.FromInt32(2)), 3, ""},
		"the number of nodes":            {new(intstr.FromInt32(3)), 3, "minHealthy (3) requires 3 Ready nodes, and the pool has 3"},
		"a number above that of nodes":   {new(intstr.FromInt32(5)), 3, "minHealthy (5) requires 5 Ready nodes, and the pool has 3"},
		"all nodes":                      {new(intstr.FromString("100%")), 40, "minHealthy (100%) requires 40 Ready nodes, and the pool has 40"},
		"a share that is rounded to all": {new(intstr.FromString("90%")), 9, "minHealthy (90%) requires 9 Ready nodes"},
		"a share that leaves one":        {new(intstr.FromString("90%")), 10, ""},
	} {
		got := Outlook{}.hindrances(&nodesv1.Remediation{MinHealthy: c.minHealthy}, c.nodes)
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: expected a user to read %q, got %q", name, c.want, got)
		}
	}
}

func TestNodesForCommandsAreFoundByAllTheirLabels(t *testing.T) {
	pool := pooltest.Pool("gold")
	if RunsOn(pool, pooltest.Node("n")) {
		t.Error("expected a pool without a remediation to select no node")
	}
	pool.Spec.Remediation = &nodesv1.Remediation{}
	if RunsOn(pool, pooltest.Node("n")) || len(unmatched(pool.Spec.Remediation, nil)) > 0 {
		t.Error("expected a command without labels to select no node in particular")
	}
	pool.Spec.Remediation.Fence.OnNodes = map[string]nodesv1.LabelValue{"bmc": "yes", "zone": "a"}
	half, whole := pooltest.Node("half", pooltest.HasLabel("bmc", "yes")), pooltest.Node("whole", pooltest.HasLabel("bmc", "yes"), pooltest.HasLabel("zone", "a"))
	if RunsOn(pool, half) || !RunsOn(pool, whole) {
		t.Error("expected only the node with all labels to be selected")
	}
	pooltest.Same(t, "fields without a node", []string{"spec.remediation.fence.onNodes"}, unmatched(pool.Spec.Remediation, []corev1.Node{*half}))
	if got := unmatched(pool.Spec.Remediation, []corev1.Node{*half, *whole}); len(got) > 0 {
		t.Errorf("expected no field without a node, got %v", got)
	}
	got := Outlook{Unmatched: []string{"spec.remediation.fence.onNodes"}}.hindrances(pool.Spec.Remediation, 3)
	if want := "No node has the labels in spec.remediation.fence.onNodes, so the command cannot run; label a node, or correct the field"; got != want {
		t.Errorf("expected %q, got %q", want, got)
	}
}

// The order in the condition: what a user must do now, what the settings lack, and then what goes on.
func TestTheConditionWarnsUnlessSomethingWorseIsReported(t *testing.T) {
	dead := []nodesv1.NodeRemediation{{Node: "n1", Phase: nodesv1.RemediationWaiting, Message: "soon"}}
	failed := []nodesv1.NodeRemediation{{Node: "n1", Phase: nodesv1.RemediationFailed, Message: "gave up"}}
	held := &Verdict{Record: &dead[0], Held: &Obstacle{nodesv1.ReasonRemediationHeld, "partition"}}
	for name, c := range map[string]struct {
		d       Decision
		records []nodesv1.NodeRemediation
		want    string
	}{
		"nothing wrong":                  {Decision{}, nil, "True NoDeadNodes: Every node is Ready, so no machine is fenced"},
		"a warning":                      {Decision{hindrances: "No Secret"}, nil, "False NotEffective: No Secret"},
		"a warning and a dead node":      {Decision{hindrances: "No Secret"}, dead, "False NotEffective: No Secret. Waiting: n1"},
		"a warning and a safety rule":    {Decision{hindrances: "No Secret", verdicts: []*Verdict{held}}, dead, "False RemediationHeld: Node n1: partition"},
		"a warning and a failed machine": {Decision{hindrances: "No Secret"}, failed, "False RemediationFailed: Node n1: gave up"},
		"a dead node":                    {Decision{}, dead, "True Remediating: Waiting: n1"},
	} {
		var list []metav1.Condition
		c.d.Report(condition.Set{Conditions: &list, Now: noon}, c.records)
		found := meta.FindStatusCondition(list, nodesv1.NodePoolRemediation)
		if got := string(found.Status) + " " + found.Reason + ": " + found.Message; got != c.want {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}

func TestADecisionHasTheWarningsOfItsPool(t *testing.T) {
	w := newWorld(t)
	w.up("n1", "boot-of-n1")
	lacks := Facts{Outlook: Outlook{Missing: []Missing{{"spec.remediation.fence", "bmc", ""}}}}
	d := DecideAll(w.pool, w.nodes, lacks, noon)
	plan := kit.Plan{}
	if d.Plan(&plan); plan.Again != time.Minute || !strings.Contains(d.hindrances, "Secret bmc in namespace opcrew-activities does not exist") {
		t.Errorf("expected the missing Secret to be reported and looked for in a minute, got %q and %s", d.hindrances, plan.Again)
	}
	plan = kit.Plan{}
	if DecideAll(w.pool, w.nodes, Facts{}, noon).Plan(&plan); plan.Again != 0 {
		t.Errorf("expected no look while nothing is missing, got one in %s", plan.Again)
	}
	w.pool.Spec.Remediation = nil
	if d := DecideAll(w.pool, w.nodes[:1], Facts{}, noon); d.hindrances != "" {
		t.Errorf("expected no warning without a remediation, got %q", d.hindrances)
	}
}

func TestAnEventSaysOnceThatTheRemediationHasNoEffect(t *testing.T) {
	pool := func(reason, message string) *nodesv1.NodePool {
		out := &nodesv1.NodePool{}
		if reason != "" {
			out.Status.Conditions = []metav1.Condition{{Type: nodesv1.NodePoolRemediation, Reason: reason, Message: message}}
		}
		return out
	}
	warns := []kit.Event{{Warning: true, Reason: "RemediationNotEffective", Action: "Remediate", Note: "No Secret"}}
	for name, c := range map[string]struct {
		before, after *nodesv1.NodePool
		want          []kit.Event
	}{
		"a new remediation":          {pool("", ""), pool(nodesv1.ReasonNotEffective, "No Secret"), warns},
		"a remediation that worked":  {pool(nodesv1.ReasonNoDeadNodes, ""), pool(nodesv1.ReasonNotEffective, "No Secret"), warns},
		"another message":            {pool(nodesv1.ReasonNotEffective, "No key"), pool(nodesv1.ReasonNotEffective, "No Secret"), nil},
		"a remediation that works":   {pool(nodesv1.ReasonNotEffective, "No Secret"), pool(nodesv1.ReasonNoDeadNodes, ""), nil},
		"a pool without remediation": {pool("", ""), pool("", ""), nil},
	} {
		pooltest.Same(t, name, c.want, Events(c.before, c.after))
	}
}
