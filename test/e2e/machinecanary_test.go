// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	canaryLabel = "example.com/canary"
	shopReady   = "ShopReady"
	// soaks is the time in which the canary must be healthy before another node begins.
	soaks = 40 * time.Second
)

// A canary node is updated first, and soaks. Then the others follow. A configuration with which the canary does not pass
// the health gate reaches no other node, and is taken back from the canary.
func TestACanaryProtectsTheOtherNodesOfItsPool(t *testing.T) {
	canary, others := "node2", []string{"node1", "node3"}
	c := machinePool(t, append(others, canary)...)
	c.kubectl(t, "label", "node", canary, canaryLabel+"=yes", "--overwrite")
	t.Cleanup(func() { c.kubectl(t, "label", "node", canary, canaryLabel+"-") })
	c.reconfigure(t, worker, func() { c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml") })
	c.reconfigure(t, worker, func() { c.motd(t, "one") })
	for _, node := range append(others, canary) {
		c.gate(t, node, "True")
	}
	c.kubectl(t, "patch", worker[0], "--type=merge", "-p", fmt.Sprintf(`{"spec":{"maxUnavailable":2,"rollout":{
		"canary":{"nodeSelector":{"matchLabels":{%q:"yes"}},"soak":"%ds"},"onFailure":"RollBack",
		"healthGate":{"conditions":[{"type":"Ready","status":"True"},{"type":%q,"status":"True"}],"timeout":"60s"}}}}`,
		canaryLabel, int(soaks.Seconds()), shopReady))

	c.soaking(t, canary, others)
	c.rejected(t, canary, others)
	c.removeMachinePool(t)
}

// soaking gives the pool a good configuration.
func (c *cluster) soaking(t *testing.T, canary string, others []string) {
	t.Helper()
	done := c.rendered(t, worker)
	c.motd(t, "two")
	c.awaitNodeState(t, canary, "Soaking")
	eventually.Stays(t, soaks/2, "the other nodes wait until the canary has soaked", func() error {
		if changing := c.changing(t, others...); len(changing) > 0 {
			return fmt.Errorf("%q change", changing)
		}
		return nil
	})
	done(configured)
	for _, node := range append(others, canary) {
		c.wantOnHost(t, node, "two", "cat", "/etc/worker-motd")
	}
}

// rejected gives the pool a configuration with which the canary reports that it is not healthy.
func (c *cluster) rejected(t *testing.T, canary string, others []string) {
	t.Helper()
	before := c.bootIDs(t, others)
	c.motd(t, "three")
	eventually.True(t, time.Minute, "the canary begins to change", func() error {
		if len(c.changing(t, canary)) == 0 {
			return fmt.Errorf("it has not begun")
		}
		return nil
	})
	c.gate(t, canary, "False")
	c.wantState(t, configured, worker[0], "the update is rolled back", func(state string) error {
		if !strings.Contains(state, canary) {
			return fmt.Errorf("status.rollBack is %q", state)
		}
		return nil
	}, "{.status.rollBack.reason}")
	c.wantCondition(t, worker[0], "Updated", "False", "RolledBack", canary)
	c.gate(t, canary, "True")
	eventually.True(t, configured, "the canary returns to the earlier configuration", func() error {
		if changing := c.changing(t, canary); len(changing) > 0 {
			return fmt.Errorf("%q change", changing)
		}
		if got := c.onHost(t, canary, "cat", "/etc/worker-motd"); got != "two" {
			return fmt.Errorf("its file has %q", got)
		}
		return nil
	})
	for _, node := range others {
		c.wantOnHost(t, node, "two", "cat", "/etc/worker-motd")
	}
	if after := c.bootIDs(t, others); !slices.Equal(before, after) { // each configuration of this test requires a reboot
		t.Errorf("expected the other nodes never to get the rejected configuration, but they have rebooted")
	}
}

func (c *cluster) bootIDs(t *testing.T, nodes []string) (out []string) {
	t.Helper()
	for _, node := range nodes {
		out = append(out, c.node(t, node).Status.NodeInfo.BootID)
	}
	return out
}

// gate sets the condition that the health gate of the pool requires, as a checker of a platform would.
func (c *cluster) gate(t *testing.T, node, status string) {
	t.Helper()
	c.kubectl(t, "patch", "node", node, "--subresource=status", "-p", fmt.Sprintf(
		`{"status":{"conditions":[{"type":%q,"status":%q,"reason":"Checked","message":"set by a test","lastTransitionTime":%q}]}}`,
		shopReady, status, time.Now().UTC().Format(time.RFC3339)))
}

// awaitNodeState waits until the status of the pool shows a state of a node.
func (c *cluster) awaitNodeState(t *testing.T, node, state string) {
	t.Helper()
	c.wantState(t, configured, worker[0], node+" is "+state, func(got string) error {
		if !strings.Contains(got, node+"="+state) {
			return fmt.Errorf("the states are %s", got)
		}
		return nil
	}, "{range .status.nodes[*]}{.name}={.state} {end}")
}
