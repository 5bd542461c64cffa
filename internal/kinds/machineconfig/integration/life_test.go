// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
)

func TestAPoolOfThreeGetsAConfigAChangeAndItsRemoval(t *testing.T) {
	process := env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	names := nodesOf(t, "three", 3)
	mc := newConfig("three", "50-three", "hello")
	create(t, mc, newPool("three"))
	first := awaitUpdated(t, "three", 3, "")
	if !strings.HasPrefix(first.Spec.Configuration.Name, "rendered-three-") || len(first.Spec.Configuration.Source) != 1 {
		t.Errorf("expected a rendered configuration with one source, got %+v", first.Spec.Configuration)
	}
	setMotd(t, mc, "changed")
	second := awaitUpdated(t, "three", 3, first.Spec.Configuration.Name)
	if agents.MostBusy() > 1 {
		t.Errorf("expected one node at a time, got %d", agents.MostBusy())
	}
	if len(agents.Drained()) != 6 {
		t.Errorf("expected each of the three nodes to be drained for each of the two changes, got %v", agents.Drained())
	}
	if err := env.Client.Delete(t.Context(), mc); err != nil {
		t.Fatal(err)
	}
	third := awaitUpdated(t, "three", 3, second.Spec.Configuration.Name)
	if c := condition(third, mcfgv1.PoolRenderDegraded); c.Reason != mcfgv1.ReasonNoConfigs {
		t.Errorf("expected the pool to have an empty configuration, got %+v", c)
	}
	for _, name := range names {
		expectSettled(t, name, third.Spec.Configuration.Name)
	}
	process.ExpectNoWork(func() {
		merge(t, pool(t, "three"), `{"metadata":{"annotations":{"example.com/seen":"1"}}}`)
	})
}

func TestAPausedPoolRendersAndShowsThePlanAndChangesNothing(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	names := nodesOf(t, "paused", 2)
	create(t, newConfig("paused", "50-paused", "hello"), newPool("paused", isPaused))
	p := await(t, "paused", "the pool shows what would change", func(p *mcfgv1.MachineConfigPool) bool { return len(p.Status.Plans) == 1 })
	plan := p.Status.Plans[0]
	if plan.NodeCount != 2 || !plan.Reboots || len(plan.Changes) != 1 || plan.Changes[0].Name != "/etc/motd" {
		t.Errorf("expected a plan for two nodes that adds /etc/motd and reboots, got %+v", plan)
	}
	if is(p, mcfgv1.PoolUpdated) || is(p, mcfgv1.PoolUpdating) || condition(p, mcfgv1.PoolUpdating).Reason != mcfgv1.ReasonPaused {
		t.Errorf("expected a paused pool to be neither Updated nor Updating, got %+v", p.Status.Conditions)
	}
	env.Rests(t)
	if n := node(t, names[0]); n.Annotations[machineorder.DesiredConfig] != "" || hasOurTaint(n) {
		t.Errorf("expected an untouched node, got %v and %v", n.Annotations, n.Spec.Taints)
	}
	if err := env.Client.Patch(t.Context(), p, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":false}}`))); err != nil {
		t.Fatal(err)
	}
	awaitUpdated(t, "paused", 2, "")
}

// OpenShift's operator writes the rendered configuration into the spec, too, so users and their tools may overwrite it.
func TestTheConfigurationInTheSpecOfAPoolIsRestored(t *testing.T) {
	env.Operator(t)
	create(t, newConfig("lasting", "50-lasting", "one"), newPool("lasting", needsNothing))
	before := awaitUpdated(t, "lasting", 0, "").Spec.Configuration
	for _, patch := range []string{`{"name":"rendered-other"}`, `{"kind":"x","namespace":"x","uid":"x","apiVersion":"x","resourceVersion":"x","fieldPath":"x"}`, `{"source":[]}`} {
		merge(t, pool(t, "lasting"), `{"spec":{"configuration":`+patch+`}}`)
		await(t, "lasting", "spec.configuration is what the operator rendered", func(p *mcfgv1.MachineConfigPool) bool {
			return equality.Semantic.DeepEqual(p.Spec.Configuration, before)
		})
	}
}

func TestANewNodeIsConfiguredBeforeItRunsPods(t *testing.T) {
	env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	nodesOf(t, "joined", 1)
	create(t, newConfig("joined", "50-joined", "hello"), newPool("joined"))
	p := awaitUpdated(t, "joined", 1, "")
	time.Sleep(time.Second) // the policy is in force a moment after the pool exists
	added := env.Nodes(t, 1, testenv.NodeSpec{Prefix: "later", Labels: roleOf("joined")})
	awaitUpdated(t, "joined", 2, "")
	expectSettled(t, added[0], p.Spec.Configuration.Name)
	order, err := machineorder.ParseOrder(node(t, added[0]).Annotations[machineorder.OrderAnnotation])
	if err != nil || !order.SkipDrain || len(order.Peers) != 1 {
		t.Errorf("expected the order to a joining node to need no drain, and to name one peer, got %+v (%v)", order, err)
	}
	if len(agents.Drained()) != 1 {
		t.Errorf("expected only the first node to be drained, got %v", agents.Drained())
	}
}
