// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	machineTestdata = "test/e2e/testdata/machineconfig/"
	workerLabel     = "node-role.kubernetes.io/worker"
	agentMark       = "opcrew.io/machine-agent"
	// configured is the time limit until a pool of three nodes has a configuration that requires reboots.
	configured = 6 * time.Minute
)

// machinePool installs MachineConfig, removes what another test left, and makes nodes workers.
func machinePool(t *testing.T, nodes ...string) *cluster {
	t.Helper()
	c := connect(t)
	c.removePools(t)
	c.kubectl(t, "apply", "--server-side", "-k", "config/machineconfig")
	eventually.True(t, time.Minute, "the API server enforces the policies of MachineConfig", func() error {
		out, err := c.program("kubectl", "apply", "--dry-run=server", "-o", "yaml", "-f", machineTestdata+"more.yaml").CombinedOutput()
		if err == nil && !strings.Contains(string(out), "opcrew.io/requester") {
			err = fmt.Errorf("no requester is recorded")
		}
		return err
	})
	c.removeMachinePool(t)
	for _, node := range nodes {
		c.kubectl(t, "label", "node", node, workerLabel+"=", "--overwrite")
	}
	return c
}

// removeMachinePool lets all hosts return to what they were, and removes the pools.
func (c *cluster) removeMachinePool(t *testing.T) {
	t.Helper()
	left := c.kubectl(t, "get", "machineconfigs", "-l", "machineconfiguration.openshift.io/role", "-o", "name")
	pools := strings.Fields(c.kubectl(t, "get", "machineconfigpools", "-o", "name"))
	if left != "" {
		c.reconfigure(t, pools, func() {
			c.kubectl(t, "delete", "machineconfigs", "-l", "machineconfiguration.openshift.io/role", "--timeout=60s")
		})
	}
	c.kubectl(t, "delete", "machineconfigpools", "--all", "--timeout=60s")
	for _, node := range []string{"node1", "node2", "node3"} {
		eventually.True(t, configured, "the agent has left "+node, func() error { return c.agentLeft(t, node) })
		c.kubectl(t, "label", "node", node, workerLabel+"-")
	}
}

func (c *cluster) node(t *testing.T, name string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
		t.Fatal(err)
	}
	return node
}

func (c *cluster) agentLeft(t *testing.T, name string) error {
	for key, value := range c.node(t, name).Annotations {
		if strings.HasPrefix(key, "machineconfiguration.openshift.io/") || key == agentMark {
			return fmt.Errorf("it has annotation %s: %s", key, value)
		}
	}
	return nil
}

// reconfigure changes MachineConfigs, and waits until all nodes of pools have the result.
func (c *cluster) reconfigure(t *testing.T, pools []string, change func()) {
	t.Helper()
	done := c.rendered(t, pools)
	change()
	done(configured)
}

// rendered returns a function that waits until all nodes of pools have a configuration other than now. A pool without
// a change of its MachineConfigs has to be complete only.
func (c *cluster) rendered(t *testing.T, pools []string) (done func(time.Duration)) {
	t.Helper()
	before := map[string]string{}
	for _, pool := range pools {
		before[pool] = c.poolField(t, pool, "{.spec.configuration.name}")
	}
	return func(limit time.Duration) {
		t.Helper()
		for _, pool := range pools {
			had := before[pool]
			c.wantState(t, limit, pool, "all nodes have the new configuration", func(state string) error {
				f := strings.Split(state, "/")
				if f[0] == had && had != "" || f[1] != "True" || f[2] != f[3] {
					return fmt.Errorf("configuration/Updated/machineCount/updatedMachineCount is %s, and the configuration was %q", state, had)
				}
				return nil
			}, `{.spec.configuration.name}/{.status.conditions[?(@.type=="Updated")].status}/{.status.machineCount}/{.status.updatedMachineCount}`)
		}
	}
}

func (c *cluster) poolField(t *testing.T, pool, path string) string {
	t.Helper()
	return c.kubectl(t, "get", pool, "--ignore-not-found", "-o", "jsonpath="+path)
}

// wantState waits until the status of a pool is about its last generation, and passes a check.
func (c *cluster) wantState(t *testing.T, limit time.Duration, pool, what string, check func(string) error, path string) {
	t.Helper()
	eventually.True(t, limit, pool+": "+what, func() error {
		out, err := c.program("kubectl", "get", pool, "-o", "jsonpath={.metadata.generation}/{.status.observedGeneration} "+path).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		seen, state, _ := strings.Cut(string(out), " ")
		if wanted, observed, _ := strings.Cut(seen, "/"); wanted != observed {
			return fmt.Errorf("generation %s is not observed yet", wanted)
		}
		return check(state)
	})
}

// wantCondition waits until a condition of a pool has a status, and a message with all parts.
func (c *cluster) wantCondition(t *testing.T, pool, name, status string, parts ...string) {
	t.Helper()
	c.wantState(t, configured, pool, fmt.Sprintf("condition %s is %s with %q", name, status, parts), func(state string) error {
		for _, part := range append(parts, status+" ") {
			if !strings.Contains(state, part) {
				return fmt.Errorf("%s is %s", name, state)
			}
		}
		return nil
	}, fmt.Sprintf(`{.status.conditions[?(@.type==%q)].status} {.status.conditions[?(@.type==%q)].reason}: {.status.conditions[?(@.type==%q)].message}`, name, name, name))
}

// onHost runs a command on the host of a node, and returns its output.
func (c *cluster) onHost(t *testing.T, node string, command ...string) string {
	t.Helper()
	return strings.TrimSpace(c.run(t, "localcluster", append([]string{"node", "exec", node, "--"}, command...)...))
}

func (c *cluster) wantOnHost(t *testing.T, node, want string, command ...string) {
	t.Helper()
	if got := c.onHost(t, node, command...); got != want {
		t.Errorf("%s: expected %q from %v, got %q", node, want, command, got)
	}
}

// disk returns the folder with the disk of a node.
func (c *cluster) disk(t *testing.T, node string) string {
	t.Helper()
	return strings.TrimSpace(c.run(t, "localcluster", "node", "root", node))
}

// motd applies a MachineConfig with a file whose change requires a drain and a reboot.
func (c *cluster) motd(t *testing.T, text string) {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(c.root, machineTestdata, "motd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "motd.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(manifest), "TEXT", text)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "apply", "-f", path)
}

// changing returns the nodes that have been ordered to have another configuration, or are not complete.
func (c *cluster) changing(t *testing.T, nodes ...string) (out []string) {
	t.Helper()
	for _, name := range nodes {
		a := c.node(t, name).Annotations
		if a[machineorder.DesiredConfig] != a[machineorder.CurrentConfig] || c.node(t, name).Spec.Unschedulable {
			out = append(out, name)
		}
	}
	return out
}
