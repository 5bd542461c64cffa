// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

const root = `{"username":"root"}`

// configures makes a NodePool a config pool. Its requester is root.
func configures(p *nodesv1.NodePool) {
	p.Spec.MachineConfigSelector = &metav1.LabelSelector{
		MatchLabels:      map[string]string{mcfgv1.RoleLabel: p.Name},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "In", Values: []string{"a", "b"}}},
	}
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[common.RequesterAnnotation] = root
}

func leaving(p *nodesv1.NodePool) { p.DeletionTimestamp = &pooltest.SomeTime }

// configPoolOf returns the MachineConfigPool of a NodePool, with one change.
func configPoolOf(pool *nodesv1.NodePool, change ...func(*mcfgv1.MachineConfigPool)) *mcfgv1.MachineConfigPool {
	controls := true
	p := &mcfgv1.MachineConfigPool{}
	p.Name, p.Generation = pool.Name, 3
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "NodePool", Name: pool.Name, UID: pool.UID, Controller: &controls}}
	p.Annotations = map[string]string{common.RequesterAnnotation: root}
	p.Spec.MachineConfigSelector, p.Spec.NodeSelector = pool.Spec.MachineConfigSelector.DeepCopy(), nodesOfRole(pool)
	for _, c := range change {
		c(p)
	}
	return p
}

func TestTheMachineConfigPoolOfANodePool(t *testing.T) {
	golden.Check(t, "config-pool.yaml", machineConfigPool(pooltest.Pool("gold", configures)))
}

func TestWhatBecomesOfTheMachineConfigPool(t *testing.T) {
	gold := pooltest.Pool("gold", configures)
	there := configPoolOf(gold)
	unrecorded := pooltest.Pool("gold", configures, func(p *nodesv1.NodePool) { p.Annotations = nil })
	orphaning := func(p *nodesv1.NodePool) { p.Finalizers = []string{metav1.FinalizerOrphanDependents} }
	forged := configPoolOf(gold, func(p *mcfgv1.MachineConfigPool) { p.Annotations[common.RequesterAnnotation] = `{"username":"other"}` })
	widened := configPoolOf(gold, func(p *mcfgv1.MachineConfigPool) { p.Spec.NodeSelector = nil })
	theirs := configPoolOf(gold, func(p *mcfgv1.MachineConfigPool) { p.OwnerReferences = nil })
	for name, test := range map[string]struct {
		pool *nodesv1.NodePool
		f    configFacts
		want string
	}{
		"the field is not set":                    {pooltest.Pool("gold"), configFacts{}, ""},
		"the field was removed":                   {pooltest.Pool("gold"), configFacts{installed: true}, "dropped"},
		"the CRDs are missing":                    {gold, configFacts{}, nodesv1.ReasonMachineConfigMissing},
		"there is none yet":                       {gold, configFacts{installed: true, vouched: true}, "declared"},
		"there is none, and no policy":            {gold, configFacts{installed: true}, nodesv1.ReasonPolicyMissing},
		"it is as requested":                      {gold, configFacts{installed: true, pool: there}, "declared"},
		"another requester, and no policy":        {gold, configFacts{installed: true, pool: forged}, nodesv1.ReasonPolicyMissing},
		"other nodes, and no policy":              {gold, configFacts{installed: true, pool: widened}, nodesv1.ReasonPolicyMissing},
		"another owner, and no policy":            {gold, configFacts{installed: true, pool: theirs}, nodesv1.ReasonPolicyMissing},
		"another requester":                       {gold, configFacts{installed: true, pool: forged, vouched: true}, "declared"},
		"no recorded requester":                   {unrecorded, configFacts{installed: true, pool: there, vouched: true}, common.ReasonRequesterUnknown},
		"the NodePool is deleted":                 {pooltest.Pool("gold", configures, leaving), configFacts{installed: true}, "dropped"},
		"it is deleted, and orphans its children": {pooltest.Pool("gold", configures, leaving, orphaning), configFacts{installed: true}, ""},
		"it is deleted without the CRDs":          {pooltest.Pool("gold", configures, leaving), configFacts{}, ""},
	} {
		d := decideConfig(test.pool, test.f)
		got := map[bool]string{true: "declared"}[d.declared] + map[bool]string{true: "dropped"}[d.dropped]
		if d.problem != nil {
			got += d.problem.reason
		}
		if got != test.want {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}

func TestThePlanDeclaresOrDeletesTheMachineConfigPool(t *testing.T) {
	f := facts{config: configFacts{installed: true, vouched: true}}
	plan := planAt(pooltest.Pool("gold", configures), f, pooltest.SomeTime.Time)
	if len(plan.Children) != 2 || len(plan.Prune) != 0 || plan.Again != 0 {
		t.Errorf("expected a RuntimeClass and a MachineConfigPool, got %d children, %d kinds to prune, again in %s", len(plan.Children), len(plan.Prune), plan.Again)
	}
	plan = planAt(pooltest.Pool("gold"), f, pooltest.SomeTime.Time)
	if len(plan.Children) != 1 || len(plan.Prune) != 1 {
		t.Errorf("expected a RuntimeClass, and no MachineConfigPool to stay, got %d children and %d kinds to prune", len(plan.Children), len(plan.Prune))
	}
	plan = planAt(pooltest.Pool("gold", configures, leaving), f, pooltest.SomeTime.Time)
	if len(plan.Children) != 0 || len(plan.Prune) != 1 || plan.Release != finalizer {
		t.Errorf("expected the MachineConfigPool to go with the NodePool, got %+v", plan)
	}
	plan = planAt(pooltest.Pool("gold", configures), facts{config: configFacts{installed: true}}, pooltest.SomeTime.Time)
	if len(plan.Children) != 1 || len(plan.Prune) != 0 || plan.Again != policyWait {
		t.Errorf("expected opcrew to wait for the admission policy, got %d children, again in %s", len(plan.Children), plan.Again)
	}
	if plan = planAt(pooltest.Pool("gold"), facts{}, pooltest.SomeTime.Time); len(plan.Prune) != 0 {
		t.Error("expected nothing to be listed where the CRDs are missing")
	}
}

// resultOf returns the result of a child of a kind.
func resultOf(kind string, action ensure.Action, message string, err error) ensure.Result {
	out := ensure.Result{Action: action, Message: message, Err: err}
	out.Ref.Kind, out.Ref.Name = kind, "gold"
	return out
}

func TestConfiguredMirrorsTheMachineConfigPool(t *testing.T) {
	gold := pooltest.Pool("gold", configures)
	says := func(status metav1.ConditionStatus, reason string, generation int64) *mcfgv1.MachineConfigPool {
		return configPoolOf(gold, func(p *mcfgv1.MachineConfigPool) {
			p.Status.Conditions = []metav1.Condition{{Type: mcfgv1.PoolReady, Status: status, Reason: reason, Message: "its message", ObservedGeneration: generation}}
		})
	}
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "machineconfigpools"}, "gold", errors.New("no right"))
	fine := resultOf(configPoolKind, ensure.Unchanged, "", nil)
	for name, test := range map[string]struct {
		pool              *mcfgv1.MachineConfigPool
		result            ensure.Result
		configured, ready string
		word              string
	}{
		"all nodes have it":    {says("True", mcfgv1.ReasonAllUpdated, 3), fine, "True AllUpdated", "True NoNodes", "MachineConfigPool gold: its message"},
		"nodes change":         {says("True", mcfgv1.ReasonUpdating, 3), fine, "True Updating", "True NoNodes", "its message"},
		"it is degraded":       {says("False", mcfgv1.ReasonNodeFailed, 3), fine, "False NodeFailed", "False NodeFailed", "its message"},
		"it is not known":      {says("Unknown", common.ReasonReadFailed, 3), fine, "Unknown ReadFailed", "Unknown ReadFailed", "its message"},
		"its report is old":    {says("True", mcfgv1.ReasonAllUpdated, 2), fine, "Unknown Applying", "Unknown Applying", "not reconciled"},
		"it is new":            {nil, resultOf(configPoolKind, ensure.Created, "", nil), "Unknown Applying", "Unknown Applying", "not reconciled"},
		"its name is taken":    {configPoolOf(gold), resultOf(configPoolKind, ensure.Taken, "it is Helm's", nil), "False NameTaken", "False NameTaken", "Helm"},
		"the write is refused": {says("True", "AllUpdated", 3), resultOf(configPoolKind, "", "", refused), "False Refused", "False Refused", "no right"},
	} {
		f := facts{config: configFacts{installed: true, vouched: true, pool: test.pool}}
		done := kit.Outcome{Results: []ensure.Result{resultOf("RuntimeClass", ensure.Unchanged, "", nil), test.result}, Err: test.result.Err}
		status := reportedAfter(gold, f, done)
		c := conditionOf(status, nodesv1.NodePoolConfigured)
		if short(c) != test.configured || !strings.Contains(c.Message, test.word) || short(conditionOf(status, nodesv1.NodePoolReady)) != test.ready {
			t.Errorf("%s: expected %s with %q and Ready %s, got %+v and %s", name, test.configured, test.word, test.ready, c, short(conditionOf(status, nodesv1.NodePoolReady)))
		}
		if class := conditionOf(status, nodesv1.NodePoolRuntimeClassReady); class.Status != metav1.ConditionTrue {
			t.Errorf("%s: expected the RuntimeClass to be ready regardless of the MachineConfigPool, got %+v", name, class)
		}
	}
}

func TestConfiguredExistsOnlyWhileTheFieldIsSet(t *testing.T) {
	before := pooltest.Pool("gold", func(p *nodesv1.NodePool) {
		p.Status.Conditions = []metav1.Condition{{Type: nodesv1.NodePoolConfigured, Status: metav1.ConditionFalse, Reason: "NodeFailed"}}
	})
	status := reportedAfter(before, facts{config: configFacts{installed: true}}, results(ensure.Unchanged, ""))
	if slices.ContainsFunc(status.Conditions, func(c metav1.Condition) bool { return c.Type == nodesv1.NodePoolConfigured }) {
		t.Errorf("expected no condition Configured, got %+v", status.Conditions)
	}
	failed := kit.Outcome{Err: errors.New("prune MachineConfigPool gold: refused"), Results: []ensure.Result{
		resultOf("RuntimeClass", ensure.Unchanged, "", nil), resultOf(configPoolKind, "", "", nil),
	}}
	status = reportedAfter(before, facts{config: configFacts{installed: true}}, failed)
	if c := conditionOf(status, nodesv1.NodePoolConfigured); c.Status != metav1.ConditionUnknown || !strings.Contains(c.Message, "prune") {
		t.Errorf("expected the failed deletion to be reported, got %+v", c)
	}
}

func TestAMissingMachineConfigKeepsThePoolFromBeingReady(t *testing.T) {
	status := reportedAfter(pooltest.Pool("gold", configures), facts{}, results(ensure.Unchanged, ""))
	c := conditionOf(status, nodesv1.NodePoolReady)
	if short(c) != "False MachineConfigMissing" || !strings.Contains(c.Message, "make install-machineconfig") || !strings.Contains(c.Message, "remove the field") {
		t.Errorf("expected Ready to say what is missing and what to do, got %+v", c)
	}
}

func TestADryRunShowsTheChangeOfTheMachineConfigPool(t *testing.T) {
	gold := pooltest.Pool("gold", pooltest.InDryRun(), configures)
	f := facts{config: configFacts{installed: true, vouched: true}}
	held := kit.Outcome{Held: 1, Results: []ensure.Result{resultOf("RuntimeClass", ensure.Unchanged, "", nil), resultOf(configPoolKind, ensure.Held, "", nil)}}
	status := reportedAfter(gold, f, held)
	if short(conditionOf(status, nodesv1.NodePoolConfigured)) != "False DryRun" || status.Preview == nil || len(status.Preview.Changes) != 1 ||
		!strings.Contains(status.Preview.Changes[0], "apply MachineConfigPool gold") {
		t.Errorf("expected the preview to show the MachineConfigPool, got %+v and %+v", status.Preview, conditionOf(status, nodesv1.NodePoolConfigured))
	}
	if class := conditionOf(status, nodesv1.NodePoolRuntimeClassReady); class.Status != metav1.ConditionTrue {
		t.Errorf("expected the RuntimeClass to be as declared, got %+v", class)
	}
}
