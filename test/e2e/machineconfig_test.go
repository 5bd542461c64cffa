// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// worker is the pool of most tests.
var worker = []string{"machineconfigpool/worker"}

func TestMachineConfigsReachTheHostsOfAPoolAndLeaveThemAsTheyWere(t *testing.T) {
	nodes := []string{"node1", "node2"}
	c := machinePool(t, nodes...)
	before := map[string]map[string]string{}
	for _, node := range nodes {
		before[node] = c.tree(t, node)
	}
	c.reconfigure(t, worker, func() {
		c.kubectl(t, "apply", "-f", machineTestdata+"openshift.yaml", "-f", machineTestdata+"more.yaml")
	})
	for _, node := range nodes {
		c.wantOnHost(t, node, "644", "stat", "-c", "%a", "/etc/chrony.conf")
		c.wantOnHost(t, node, "pool 0.rhel.pool.ntp.org iburst", "head", "-n", "1", "/etc/chrony.conf")
		c.wantOnHost(t, node, "70", "sysctl", "-n", "net.ipv4.ip_default_ttl")
		c.wantOnHost(t, node, "active", "systemctl", "is-active", "greeting.service")
		c.wantOnHost(t, node, "hello", "cat", "/run/greeting")
		c.wantOnHost(t, node, "Environment=GREETING=hello", "systemctl", "show", "-p", "Environment", "ssh.service")
		if keys := c.onHost(t, node, "cat", "/home/core/.ssh/authorized_keys"); !strings.Contains(keys, "core@bastion") {
			t.Errorf("%s: expected the key of core, got %q", node, keys)
		}
	}
	c.reconfigure(t, worker, func() {
		c.kubectl(t, "patch", "machineconfig", "50-worker-more", "--type=json",
			"-p", `[{"op":"replace","path":"/spec/config/storage/files/0/contents/source","value":"data:,net.ipv4.ip_default_ttl%20%3D%2071%0A"}]`)
	})
	for _, node := range nodes {
		c.wantOnHost(t, node, "71", "sysctl", "-n", "net.ipv4.ip_default_ttl")
	}
	c.removeMachinePool(t)
	for _, node := range nodes {
		if diff := cmp.Diff(before[node], c.tree(t, node)); diff != "" {
			t.Errorf("%s: expected the disk as before (-before +after):\n%s", node, diff)
		}
		c.wantOnHost(t, node, "64", "sysctl", "-n", "net.ipv4.ip_default_ttl")
	}
	if len(before[nodes[0]]) == 0 {
		t.Error("expected a disk with files")
	}
}

func TestAConfigurationThatAHostCannotHaveIsReportedAndItsCorrectionIsApplied(t *testing.T) {
	nodes := []string{"node1", "node2"}
	c := machinePool(t, nodes...)
	c.reconfigure(t, worker, func() { c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml") })
	c.kubectl(t, "patch", "machineconfig", "50-worker-more", "--type=json",
		"-p", `[{"op":"add","path":"/spec/config/passwd","value":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAAA x"]},{"name":"absent-user","sshAuthorizedKeys":["ssh-ed25519 AAAA x"]}]}}]`)
	c.wantCondition(t, worker[0], "Degraded", "True", "absent-user")
	c.wantCondition(t, worker[0], "NodeDegraded", "True", "NodeUnreconcilable", "absent-user")
	for _, node := range nodes {
		if c.node(t, node).Spec.Unschedulable {
			t.Errorf("expected %s not to be cordoned for a configuration that it cannot have", node)
		}
	}
	c.reconfigure(t, worker, func() {
		c.kubectl(t, "patch", "machineconfig", "50-worker-more", "--type=json", "-p", `[{"op":"remove","path":"/spec/config/passwd"}]`)
	})
	c.removeMachinePool(t)
}
