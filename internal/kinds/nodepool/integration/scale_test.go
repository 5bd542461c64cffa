// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/operator"

	corev1 "k8s.io/api/core/v1"
)

// quietWithHeartbeats checks that opcrew makes no API call while kubelets only send heartbeats.
func quietWithHeartbeats(t *testing.T, nodes []string) {
	t.Helper()
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	env.Heartbeat(t, nodes...)
	time.Sleep(operator.Silence)
	if seen := env.Calls(t, mark); len(seen) > 0 {
		t.Errorf("expected no call at rest on %d nodes with heartbeats, got %d:\n%s", len(nodes), len(seen), seen)
	}
}

// Regression: one heartbeat of a node made opcrew rewrite all nodes of its pool.
func TestAtRestOnThreeNodesThereIsNoCall(t *testing.T) {
	nodes := makeNodes(t, 3, "rest", role("rest"), hasLabel("theirs", "x"))
	o := env.Operator(t)
	createPool(t, newPool("rest", wantsLabel("tier", "gold"), wantsAnnotation("note", ""), wantsTaint("only", "", noSchedule), wantsTaint("only", "", noExecute), wantsLabel("theirs", "x")))
	awaitReady(t, "rest", 3) // the test waits until the nodes have the label of the pool
	createPool(t,
		newPool("rest-conflict", selects("theirs", "x"), wantsLabel("tier", "silver")),
		newPool("rest-empty"),
		newPool("rest-dry", annotated(dryRun, "true"), selects("theirs", "x"), wantsTaint("dry", "", noExecute)),
		newPool("rest-paused", annotated(pause, "true"), selects("theirs", "x")))
	awaitReady(t, "rest", 3)
	awaitCondition(t, "rest-conflict", "Ready", "False HeldByPool")
	awaitCondition(t, "rest-dry", "Ready", "False DryRun")
	quietWithHeartbeats(t, nodes)

	mark := env.Audit.Mark(t)
	o.Stop()
	o.Start()
	done := env.Settled(t, mark)
	if writes := done.Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}
	quietWithHeartbeats(t, nodes)
}

func TestFiveHundredNodes(t *testing.T) {
	const n = 500
	const few = n / 10
	nodes := makeNodes(t, n, "many", hasLabel("many", "yes"), hasTaint("theirs", "1", corev1.TaintEffectPreferNoSchedule), func(node *corev1.Node) {
		if strings.HasSuffix(node.Name, "0") {
			hasLabel("few", "yes")(node)
		}
	})
	before := likenesses(t, nodes)
	o := env.Operator(t)

	mark, start := env.Audit.Mark(t), time.Now()
	createPool(t, newPool("many-a", selects("many", "yes"), wantsLabel("tier", "gold"), wantsAnnotation("note", "x")))
	p := awaitReady(t, "many-a", n)
	t.Logf("a pool on %d nodes is ready after %s", n, time.Since(start).Round(time.Millisecond))
	done := env.Settled(t, mark)
	tally := done.Tally()
	t.Logf("its calls: %v", tally)
	if len(nodeWrites(done)) != n || tally["patch nodepools"] != 1 || tally["patch runtimeclasses"] != 1 {
		t.Errorf("expected %d patches of nodes, one finalizer and one RuntimeClass, got %v", n, tally)
	}
	// opcrew may write the status twice per second during the change, and once at the end.
	if most := 3 + 2*int(time.Since(start).Seconds()); tally["patch nodepools/status"] > most {
		t.Errorf("expected %d writes of the status at most, got %d", most, tally["patch nodepools/status"])
	}
	// While this change runs, Kubernetes removes the not-ready taint from new nodes. A few patches of opcrew therefore
	// fail and are retried.
	if refused := done.Writes().Refused(); len(refused) > n/20 {
		t.Errorf("expected hardly any write to fail, got:\n%s", refused)
	}
	raw, err := json.Marshal(p.Status)
	if err != nil || len(raw) > 4096 {
		t.Errorf("expected a small status, got %d bytes: %s (%v)", len(raw), raw, err)
	}

	mark = env.Audit.Mark(t)
	editPool(t, "many-a", wantsTaint("only", "gold", noSchedule))
	createPool(t, newPool("many-b", selects("few", "yes"), wantsLabel("tier", "gold"), wantsLabel("b", "1")),
		newPool("many-c", selects("few", "yes"), wantsLabel("c", "1")))
	awaitReady(t, "many-a", n)
	awaitReady(t, "many-b", few)
	awaitReady(t, "many-c", few)
	done = env.Settled(t, mark)
	t.Logf("a taint on all of them and two more pools on %d: %v", few, done.Tally())
	if writes := len(nodeWrites(done)); writes < n || writes > n+2*few {
		t.Errorf("expected one write a node, and two more where the other pools are, got %d", writes)
	}
	quietWithHeartbeats(t, nodes)

	mark = env.Audit.Mark(t)
	o.Stop()
	o.Start()
	done = env.Settled(t, mark)
	t.Logf("a restart with 3 pools on %d nodes: %v", n, done.Tally())
	if writes := done.Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got %d:\n%s", len(writes), writes)
	}

	mark, start = env.Audit.Mark(t), time.Now()
	for _, name := range []string{"many-a", "many-b", "many-c"} {
		deletePool(t, name)
	}
	for _, name := range []string{"many-a", "many-b", "many-c"} {
		awaitPoolGone(t, name)
		awaitClassGone(t, name)
	}
	awaitLikeness(t, before)
	t.Logf("all three are gone after %s: %v", time.Since(start).Round(time.Millisecond), env.Calls(t, mark).Tally())
}
