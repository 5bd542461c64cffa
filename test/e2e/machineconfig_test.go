// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	machineTestdata = "test/e2e/testdata/machineconfig/"
	workerLabel     = "node-role.kubernetes.io/worker"
	agentMark       = "opcrew.io/machine-agent"
	// configured is the time limit until a pool of two nodes has a configuration that requires reboots.
	configured = 6 * time.Minute
)

// transient are folders in which a running node writes by itself.
var transient = []string{
	"/var/lib/containerd", "/var/lib/kubelet", "/var/lib/cni", "/var/log", "/var/tmp", "/tmp", "/var/lib/systemd", "/run", "/proc", "/sys", "/dev",
}

// machinePool installs MachineConfig, removes what another test left, and makes two nodes workers.
func machinePool(t *testing.T) (c *cluster, nodes []string) {
	t.Helper()
	c, nodes = connect(t), []string{"node1", "node2"}
	c.removePools(t)
	c.kubectl(t, "apply", "--server-side", "-k", "config/machineconfig")
	eventually.True(t, time.Minute, "the API server enforces the policies of MachineConfig", func() error {
		out, err := c.program("kubectl", "apply", "--dry-run=server", "-o", "yaml", "-f", machineTestdata+"more.yaml").CombinedOutput()
		if err == nil && !strings.Contains(string(out), "opcrew.io/requester") {
			err = fmt.Errorf("no requester is recorded")
		}
		return err
	})
	c.removeMachinePool(t, nodes)
	for _, node := range nodes {
		c.kubectl(t, "label", "node", node, workerLabel+"=", "--overwrite")
	}
	return c, nodes
}

func (c *cluster) removeMachinePool(t *testing.T, nodes []string) {
	t.Helper()
	c.kubectl(t, "delete", "machineconfigs", "-l", "machineconfiguration.openshift.io/role=worker", "--timeout=60s")
	if c.kubectl(t, "get", "machineconfigpools", "-o", "name") != "" {
		c.wantUpdated(t, len(nodes)) // the hosts are as they were
	}
	c.kubectl(t, "delete", "machineconfigpools", "--all", "--timeout=60s")
	for _, node := range nodes {
		eventually.True(t, configured, "the agent has left "+node, func() error { return c.agentLeft(t, node) })
		c.kubectl(t, "label", "node", node, workerLabel+"-")
	}
}

func (c *cluster) agentLeft(t *testing.T, name string) error {
	node := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
		return err
	}
	for key, value := range node.Annotations {
		if strings.HasPrefix(key, "machineconfiguration.openshift.io/") || key == agentMark {
			return fmt.Errorf("it has annotation %s: %s", key, value)
		}
	}
	return nil
}

// onHost runs a command on the host of a node, and returns its output.
func (c *cluster) onHost(t *testing.T, node string, command ...string) string {
	t.Helper()
	return strings.TrimSpace(c.run(t, "localcluster", append([]string{"node", "exec", node, "--"}, command...)...))
}

// wantUpdated waits until the nodes of pool worker have its configuration.
func (c *cluster) wantUpdated(t *testing.T, count int) {
	t.Helper()
	c.wantPoolState(t, configured, fmt.Sprintf("%d nodes are updated", count), func(status string) error {
		if want := fmt.Sprintf("True/%d/%d", count, count); status != want {
			return fmt.Errorf("Updated/machineCount/updatedMachineCount is %s, expected %s", status, want)
		}
		return nil
	}, `{.status.conditions[?(@.type=="Updated")].status}/{.status.machineCount}/{.status.updatedMachineCount}`)
}

func (c *cluster) wantPoolState(t *testing.T, limit time.Duration, what string, check func(string) error, path string) {
	t.Helper()
	eventually.True(t, limit, "pool worker: "+what, func() error {
		out, err := c.program("kubectl", "get", "machineconfigpool", "worker", "-o", "jsonpath={.metadata.generation}/{.status.observedGeneration} "+path).CombinedOutput()
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

// tree describes every file on the disk of a node: type, mode, owner and content.
func (c *cluster) tree(t *testing.T, node string) map[string]string {
	t.Helper()
	root := strings.TrimSpace(c.run(t, "localcluster", "node", "root", node))
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		if slices.Contains(transient, name) {
			return fs.SkipDir
		}
		out[name], err = describe(path, entry)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func describe(path string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	owner := info.Sys().(*syscall.Stat_t)
	out := fmt.Sprintf("%v %d:%d", info.Mode(), owner.Uid, owner.Gid)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return out + " " + target, err
	case info.Mode().IsRegular():
		content, err := os.ReadFile(path)
		return fmt.Sprintf("%s %x", out, sha256.Sum256(content)), err
	}
	return out, nil
}

func (c *cluster) wantOnHost(t *testing.T, node, want string, command ...string) {
	t.Helper()
	if got := c.onHost(t, node, command...); got != want {
		t.Errorf("%s: expected %q from %v, got %q", node, want, command, got)
	}
}

func TestMachineConfigsReachTheHostsOfAPoolAndLeaveThemAsTheyWere(t *testing.T) {
	c, nodes := machinePool(t)
	before := map[string]map[string]string{}
	for _, node := range nodes {
		before[node] = c.tree(t, node)
	}
	c.kubectl(t, "apply", "-f", machineTestdata+"openshift.yaml", "-f", machineTestdata+"more.yaml")
	c.wantUpdated(t, len(nodes))
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
	c.kubectl(t, "patch", "machineconfig", "50-worker-more", "--type=json",
		"-p", `[{"op":"replace","path":"/spec/config/storage/files/0/contents/source","value":"data:,net.ipv4.ip_default_ttl%20%3D%2071%0A"}]`)
	c.wantUpdated(t, len(nodes))
	for _, node := range nodes {
		c.wantOnHost(t, node, "71", "sysctl", "-n", "net.ipv4.ip_default_ttl")
	}
	c.removeMachinePool(t, nodes)
	for _, node := range nodes {
		if diff := cmp.Diff(before[node], c.tree(t, node)); diff != "" {
			t.Errorf("%s: expected the disk as before (-before +after):\n%s", node, diff)
		}
		c.wantOnHost(t, node, "64", "sysctl", "-n", "net.ipv4.ip_default_ttl")
	}
	if left := slices.Sorted(maps.Keys(c.tree(t, nodes[0]))); len(left) == 0 {
		t.Error("expected a disk with files")
	}
}

func TestAConfigurationThatAHostCannotHaveIsReportedAndItsCorrectionIsApplied(t *testing.T) {
	c, nodes := machinePool(t)
	c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml")
	c.wantUpdated(t, len(nodes))
	c.kubectl(t, "patch", "machineconfig", "50-worker-more", "--type=json",
		"-p", `[{"op":"add","path":"/spec/config/passwd","value":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAAA x"]},{"name":"absent-user","sshAuthorizedKeys":["ssh-ed25519 AAAA x"]}]}}]`)
	c.wantPoolState(t, configured, "it is degraded, and says why", func(state string) error {
		if !strings.HasPrefix(state, "True ") || !strings.Contains(state, "absent-user") {
			return fmt.Errorf("Degraded is %s", state)
		}
		return nil
	}, `{.status.conditions[?(@.type=="Degraded")].status} {.status.conditions[?(@.type=="Degraded")].message} {.status.conditions[?(@.type=="NodeDegraded")].message}`)
	for _, node := range nodes {
		if got := c.kubectl(t, "get", "node", node, "-o", "jsonpath={.spec.unschedulable}"); got != "" {
			t.Errorf("expected %s not to be cordoned for a configuration that it cannot have", node)
		}
	}
	c.kubectl(t, "patch", "machineconfig", "50-worker-more", "--type=json", "-p", `[{"op":"remove","path":"/spec/config/passwd"}]`)
	c.wantUpdated(t, len(nodes))
	c.removeMachinePool(t, nodes)
}

// The unit drops all packets to the API server and to kubelets of other nodes, from the next boot on.
func TestAConfigurationThatCutsANodeOffIsRevertedByTheNode(t *testing.T) {
	c, nodes := machinePool(t)
	c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml")
	c.wantUpdated(t, len(nodes))
	c.kubectl(t, "apply", "-f", machineTestdata+"cutoff.yaml")
	c.wantPoolState(t, configured, "it says that a node reverted the configuration", func(state string) error {
		if !strings.HasPrefix(state, "True ") || !strings.Contains(state, "revert") {
			return fmt.Errorf("NodeDegraded is %s", state)
		}
		return nil
	}, `{.status.conditions[?(@.type=="NodeDegraded")].status} {.status.conditions[?(@.type=="NodeDegraded")].message}`)
	c.kubectl(t, "delete", "-f", machineTestdata+"cutoff.yaml")
	c.wantUpdated(t, len(nodes))
	for _, node := range nodes {
		c.wantOnHost(t, node, "active", "systemctl", "is-active", "greeting.service")
	}
	c.removeMachinePool(t, nodes)
}
