// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// restartSSH lets a change of sshd's options restart sshd instead of the host.
const restartSSH = `{"spec":{"nodeDisruptionPolicy":{"files":[{"path":"/etc/ssh/sshd_config.d","actions":[{"type":"Restart","restart":{"serviceName":"ssh.service"}}]}]}}}`

func TestAConfigurationThatCutsANodeOffIsRevertedWithinAMinute(t *testing.T) {
	nodes := []string{"node1", "node2"}
	c := machinePool(t, nodes...)
	c.reconfigure(t, worker, func() { c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml") })
	c.kubectl(t, "patch", worker[0], "--type=merge", "-p", restartSSH)
	for manifest, reason := range map[string]string{
		"firewall": "neither the API server nor a peer", "route": "neither the API server nor a peer", "sshd": "Restart ssh.service",
	} {
		t.Run(manifest, func(t *testing.T) { c.cutOff(t, nodes, machineTestdata+manifest+".yaml", reason) })
	}
	c.removeMachinePool(t)
}

// cutOff applies a configuration that a node has to revert, and removes it afterwards.
func (c *cluster) cutOff(t *testing.T, nodes []string, manifest, reason string) {
	t.Helper()
	before := c.trees(t, nodes)
	c.kubectl(t, "apply", "-f", manifest)
	c.wantCondition(t, worker[0], "NodeDegraded", "True", "NodeFailed", "reverted", reason)
	failed := c.degraded(t, nodes)
	if len(failed) != 1 {
		t.Fatalf("expected one node to try the configuration, got %q", failed)
	}
	took := c.tried(t, failed[0])
	t.Logf("%s reverted %s after it had applied the configuration", failed[0], took)
	if took > time.Minute {
		t.Errorf("expected %s to revert within a minute", failed[0])
	}
	c.wantOnHost(t, failed[0], "", "systemctl", "list-units", "--failed", "--plain", "--no-legend")
	c.reconfigure(t, worker, func() { c.kubectl(t, "delete", "-f", manifest) })
	c.wantDisks(t, before)
	for _, node := range nodes {
		c.wantOnHost(t, node, "active", "systemctl", "is-active", "greeting.service")
		c.wantOnHost(t, node, "active", "systemctl", "is-active", "ssh.service")
	}
}

// degraded returns the nodes whose machine agents report a failure.
func (c *cluster) degraded(t *testing.T, nodes []string) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(nodes), func(node string) bool {
		return c.node(t, node).Annotations[machineorder.State] != machineorder.StateDegraded
	})
}

// tried returns how long the last configuration that a node reverted was in effect, from the log of its machine agent.
func (c *cluster) tried(t *testing.T, node string) time.Duration {
	t.Helper()
	var applied, complete time.Time
	log := c.onHost(t, node, "journalctl", "-u", "opcrew-machine", "-o", "cat", "--no-pager")
	for line := range strings.Lines(log) {
		entry := struct {
			Time         time.Time
			Msg, Outcome string
			Reverting    bool
			Step         string
		}{}
		if json.Unmarshal([]byte(line), &entry) != nil {
			continue
		}
		switch {
		case entry.Msg == "The change continues" && entry.Step == "Act" && !entry.Reverting:
			applied = entry.Time
		case entry.Msg == "The change is complete" && entry.Outcome == "Reverted":
			complete = entry.Time
		}
	}
	if applied.IsZero() || complete.Before(applied) {
		t.Fatalf("%s: expected the log to contain a change and its revert, got\n%s", node, log)
	}
	return complete.Sub(applied)
}
