// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// ordered returns annotations with the order to change to a configuration.
func ordered(t *testing.T, config string) annotations {
	t.Helper()
	text, err := machineorder.EncodeOrder(machineorder.Order{Config: config, Digest: "sha256-" + strings.Repeat("0", 64)})
	if err != nil {
		t.Fatal(err)
	}
	return annotations{machineorder.DesiredConfig: config, machineorder.OrderAnnotation: text}
}

func TestANodeWithTheBadConfigIsNotIdleAfterARollBack(t *testing.T) {
	p, r := newPool(), &nodeReconciler{}
	all := fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{p}}
	if !r.isIdle(newNode("a", target, ordered(t, target)), all) {
		t.Error("expected a node with the configuration of its pool to be idle")
	}
	p.Status.RollBack = &mcfgv1.RollBack{From: target, To: p.Status.Configuration.Name}
	if r.isIdle(newNode("a", target, ordered(t, target)), all) {
		t.Error("expected a node with the bad configuration to have something to do")
	}
	if last := p.Status.Configuration.Name; !r.isIdle(newNode("b", last, ordered(t, last)), all) {
		t.Error("expected a node that has returned to be idle")
	}
}

func TestAnOrderCoversAllConfigsThatTheHostMayHave(t *testing.T) {
	const current, desired, tried = "rendered-1", "rendered-2", "rendered-0"
	configs := map[string]*orders.Config{}
	for _, name := range []string{current, desired, tried} {
		configs[name] = &orders.Config{Digest: name}
	}
	for name, c := range map[string]struct {
		phase           rollout.Phase
		desired, report string
		want            []string
	}{
		"it rests":                                 {rollout.Idle, current, current, []string{current}},
		"its agent may have begun":                 {rollout.Ordered, desired, current, []string{current, desired}},
		"its agent works":                          {rollout.Working, desired, desired, []string{current, desired, desired}},
		"it failed":                                {rollout.Failed, desired, desired, []string{current, desired, desired}},
		"it failed, and another order came":        {rollout.Ordered, desired, tried, []string{current, desired, tried}},
		"it was ordered to return while it worked": {rollout.Ordered, current, desired, []string{current, desired}},
		"it waits for a drain":                     {rollout.WantsDrain, desired, desired, []string{current}},
		"it refused":                               {rollout.Refused, desired, desired, []string{current}},
	} {
		n := newNode("a", current, annotations{machineorder.ReportAnnotation: `{"config":"` + c.report + `","phase":"Done"}`})
		s := &stepper{node: n, facts: &nodeFacts{configs: configs}, is: &rollout.Node{Phase: c.phase, Current: current, Desired: c.desired}}
		var got []string
		for _, config := range s.mayHave() {
			got = append(got, config.Digest)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: expected %v, got %v", name, c.want, got)
		}
	}
}

// decided returns what is decided about the first of several nodes.
func decided(p *mcfgv1.MachineConfigPool, configs map[string]*orders.Config, nodes ...*corev1.Node) nodeDecision {
	f := nodeFacts{fleet: fleet.Fleet{Nodes: nodes, Drained: map[string]bool{}}, configs: configs}
	if p != nil {
		f.fleet.Pools = []*mcfgv1.MachineConfigPool{p}
	}
	return (&nodeReconciler{}).Decide(nodes[0], f, now)
}

func patchOf(d nodeDecision, n *corev1.Node) string {
	patch, _ := d.edit.Patch(n)
	return string(patch.Data)
}

// untainted is the beginning of the operation that removes all taints.
const untainted = `{"op":"remove","path":"/spec/taints"`

func TestANewNodeOfAPausedPoolWithoutAConfigurationMayRunPods(t *testing.T) {
	p := newPool()
	p.Spec.Paused, p.Status.Configuration.Name = true, ""
	n := newNode("a", "", nil)
	n.Spec.Taints = []corev1.Taint{nodepatch.Startup}
	if got := patchOf(decided(p, nil, n), n); !strings.Contains(got, untainted) {
		t.Errorf("expected the startup taint to be removed, got %s", got)
	}
	p.Spec.Paused = false
	if got := patchOf(decided(p, nil, n), n); strings.Contains(got, untainted) {
		t.Errorf("expected the startup taint to stay while the node can be configured, got %s", got)
	}
}

func TestAStartupTaintOnANodeThatIsConfiguredIsRemoved(t *testing.T) {
	n := newNode("a", target, ordered(t, target))
	n.Spec.Taints = []corev1.Taint{nodepatch.Startup}
	if got := patchOf(decided(newPool(), nil, n), n); !strings.Contains(got, untainted) {
		t.Errorf("expected the taint to be removed, got %s", got)
	}
}

func TestANodeIsReleasedWhenTheLastPoolIsGone(t *testing.T) {
	n := newNode("a", target, annotations{machineorder.DesiredDrain: "uncordon-" + target, nodepatch.CordonAnnotation: "2026-11-25T12:00:00Z"})
	n.Spec.Unschedulable, n.Spec.Taints = true, []corev1.Taint{nodepatch.Updating}
	got := patchOf(decided(nil, nil, n, newNode("b", "", nil)), n)
	if !strings.Contains(got, untainted) || !strings.Contains(got, `{"op":"add","path":"/spec/unschedulable","value":false}`) {
		t.Errorf("expected the node to be uncordoned, and its taint to be removed, got %s", got)
	}
}

func TestAnOrderRecordsItsTime(t *testing.T) {
	configs := map[string]*orders.Config{"rendered-gold-1": {}, target: {Digest: "sha256-" + strings.Repeat("0", 64)}}
	configs[target].Name = target
	n := newNode("a", "rendered-gold-1", nil)
	if got := patchOf(decided(newPool(), configs, n), n); !strings.Contains(got, nodepatch.Stamp(target, now)) {
		t.Errorf("expected the order to record its time, got %s", got)
	}
	delete(configs, target)
	if got := decided(newPool(), configs, n); len(got.events) != 1 || got.events[0].Reason != "ConfigMissing" {
		t.Errorf("expected an event that the configuration is missing, got %+v", got.events)
	}
}

// draining returns a node whose machine agent waits for a drain.
func draining(t *testing.T, name string) *corev1.Node {
	keys := ordered(t, target)
	keys[machineorder.State], keys[machineorder.DesiredDrain] = string(mcfgv1.StateWorking), rollout.DrainPrefix+target
	keys[machineorder.ReportAnnotation] = `{"config":"` + target + `","phase":"Drain"}`
	return newNode(name, "", keys)
}

// Regression: another user had cordoned the node, so the end of the Activity woke only the pool, and the drain never began.
func TestADrainThatWaitsForAnActivityIsLookedAtAgain(t *testing.T) {
	n := draining(t, "a")
	n.Spec.Unschedulable = true
	got := (&nodeReconciler{}).Decide(n, nodeFacts{fleet: fleet.Fleet{
		Nodes: []*corev1.Node{n, newNode("b", target, ordered(t, target))}, Pools: []*mcfgv1.MachineConfigPool{newPool()},
		Drained: map[string]bool{}, Activities: map[string]string{"a": "shop/backup"},
	}}, now)
	if got.evicts || got.again <= 0 || got.again > time.Minute {
		t.Errorf("expected the drain to wait, and another look within a minute, got %+v", got)
	}
}

func TestANodeThatChangesDuringAReconcileIsDecidedAboutAsItWasRead(t *testing.T) {
	seen := draining(t, "a")
	if got := fleet.Phase(seen); got != rollout.WantsDrain {
		t.Fatalf("expected a node that waits for a drain, got phase %q", got)
	}
	newer := seen.DeepCopy()
	newer.Spec.Unschedulable = true
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, mcfgv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(newPool(), newer, newNode("b", target, ordered(t, target))).Build()
	tools := &kit.Tools{Client: server, Live: server, Children: &ensure.Applier{}, Clock: clocktesting.NewFakeClock(now)}
	r := &nodeReconciler{&shared{Tools: tools, configs: newConfigs(server)}}
	f, err := r.Observe(t.Context(), seen)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Decide(seen, f, now)
	if d.evicts {
		t.Error("expected no eviction, because the node was not cordoned when its pods were to be read")
	}
	if patch := patchOf(d, seen); !strings.Contains(patch, `{"op":"add","path":"/spec/unschedulable","value":true}`) {
		t.Errorf("expected the patch that cordons the node, which fails because the node has changed, got %s", patch)
	}
}
