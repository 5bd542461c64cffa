// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
)

// motd returns the content of /etc/motd in a configuration.
func motd(config hostconfig.Config) string {
	for _, f := range config.Files {
		if f.Path == "/etc/motd" && f.Contents != nil {
			return string(*f.Contents)
		}
	}
	return ""
}

func TestABlockingBudgetIsNamedAndTheDrainGoesOnWithoutIt(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	names := nodesOf(t, "guarded", 1)
	env.Nodes(t, 1, testenv.NodeSpec{Prefix: "spare"}) // the only node of a cluster is not drained
	ns := env.Namespace(t)
	budget := newBudget(ns)
	create(t, newPod(ns, "db", names[0]), budget, newConfig("guarded", "50-guarded", "hello"), newPool("guarded"))
	p := await(t, "guarded", "the pool names what blocks the drain", func(p *mcfgv1.MachineConfigPool) bool {
		return condition(p, mcfgv1.PoolRolloutBlocked).Reason == mcfgv1.ReasonDrainBlocked && len(p.Status.Nodes) == 1 && len(p.Status.Nodes[0].Blockers) == 1
	})
	if b := p.Status.Nodes[0].Blockers[0]; b.Pod != ns+"/db" || b.PodDisruptionBudget != "db" || p.Status.Nodes[0].State != "Draining" {
		t.Errorf("expected the pod and its budget to be named, got %+v", p.Status.Nodes[0])
	}
	if c := condition(p, mcfgv1.PoolReady); c.Reason != mcfgv1.ReasonDrainBlocked {
		t.Errorf("expected Ready to name the cause, got %+v", c)
	}
	if n := node(t, names[0]); !n.Spec.Unschedulable || n.Annotations["opcrew.io/machine-cordoned"] == "" {
		t.Error("expected the node to be cordoned, with the record that opcrew did it")
	}
	if err := env.Client.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	p = awaitUpdated(t, "guarded", 1, "")
	expectSettled(t, names[0], p.Spec.Configuration.Name)
}

func TestABadConfigStopsAndItsCureReachesTheFailedNodeFirst(t *testing.T) {
	env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	agents.Hinder(nil, func(_ string, config hostconfig.Config) string {
		if motd(config) == "bad" {
			return "the disk is full"
		}
		return ""
	})
	nodesOf(t, "cured", 3)
	mc := newConfig("cured", "50-cured", "bad")
	create(t, mc, newPool("cured"))
	p := await(t, "cured", "a node fails", func(p *mcfgv1.MachineConfigPool) bool {
		return is(p, mcfgv1.PoolNodeDegraded) && condition(p, mcfgv1.PoolReady).Reason == mcfgv1.ReasonNodeFailed
	})
	if p.Status.DegradedMachineCount != 1 || !strings.Contains(condition(p, mcfgv1.PoolDegraded).Message, "the disk is full") {
		t.Errorf("expected one degraded node with its reason, got %+v", p.Status)
	}
	env.Rests(t)
	setMotd(t, mc, "good")
	awaitUpdated(t, "cured", 3, p.Spec.Configuration.Name)
	if agents.MostBusy() > 1 {
		t.Errorf("expected one node at a time, got %d", agents.MostBusy())
	}
}

func TestAHostThatCannotHaveAConfigIsReportedAndKeepsItsPods(t *testing.T) {
	env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	agents.Hinder(func(string, hostconfig.Config) string { return "/etc is read-only" }, nil)
	names := nodesOf(t, "refused", 2)
	create(t, newConfig("refused", "50-refused", "x"), newPool("refused"))
	await(t, "refused", "the pool reports the refusal", func(p *mcfgv1.MachineConfigPool) bool {
		c := condition(p, mcfgv1.PoolNodeDegraded)
		return c.Reason == mcfgv1.ReasonNodeUnreconcilable && strings.Contains(c.Message, "/etc is read-only")
	})
	for _, name := range names {
		if node(t, name).Spec.Unschedulable {
			t.Errorf("expected node %s to stay schedulable", name)
		}
	}
}

func TestAConfigThatCannotBeRenderedChangesNoNode(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	names := nodesOf(t, "broken", 1)
	mc := newConfig("broken", "50-broken", "fine")
	create(t, mc, newPool("broken"))
	p := awaitUpdated(t, "broken", 1, "")
	merge(t, mc, `{"spec":{"kernelType":"realtime"}}`)
	await(t, "broken", "the pool is degraded", func(p *mcfgv1.MachineConfigPool) bool {
		c := condition(p, mcfgv1.PoolRenderDegraded)
		return c.Reason == mcfgv1.ReasonUnsupportedConfig && strings.Contains(c.Message, "50-broken") && is(p, mcfgv1.PoolDegraded)
	})
	expectSettled(t, names[0], p.Spec.Configuration.Name)
}

func TestTwoCustomPoolsOnANodeAreNamedByBoth(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	names := nodesOf(t, "gold", 1)
	merge(t, node(t, names[0]), `{"metadata":{"labels":{"node-role.kubernetes.io/silver":""}}}`)
	create(t, newConfig("gold", "50-gold", "gold"), newConfig("silver", "50-silver", "silver"), newPool("gold"), newPool("silver"))
	for _, name := range []string{"gold", "silver"} {
		await(t, name, "pool "+name+" names the conflict", func(p *mcfgv1.MachineConfigPool) bool {
			c := condition(p, mcfgv1.PoolRolloutBlocked)
			return c.Reason == mcfgv1.ReasonPoolConflict && strings.Contains(c.Message, "gold and silver") && p.Status.MachineCount == 0
		})
	}
	if n := node(t, names[0]); n.Annotations[machineorder.DesiredConfig] != "" {
		t.Error("expected the node to get no order while two pools claim it")
	}
	merge(t, node(t, names[0]), `{"metadata":{"labels":{"node-role.kubernetes.io/silver":null}}}`)
	awaitUpdated(t, "gold", 1, "")
}

func TestANodeThatAUserCordonedIsNotUpdatedAndStaysCordoned(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	names := nodesOf(t, "kept", 1)
	merge(t, node(t, names[0]), `{"spec":{"unschedulable":true}}`)
	create(t, newConfig("kept", "50-kept", "x"), newPool("kept"))
	await(t, "kept", "the pool waits for the user", func(p *mcfgv1.MachineConfigPool) bool {
		return condition(p, mcfgv1.PoolReady).Reason == mcfgv1.ReasonCordoned
	})
	env.Rests(t)
	if n := node(t, names[0]); !n.Spec.Unschedulable || n.Annotations[machineorder.DesiredConfig] != "" {
		t.Error("expected the node to keep the user's cordon, and to get no order")
	}
}
