// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// joiningPool has a pool that selects nodes by a label that their kubelets set, so that they belong to it when they join.
const joiningPool = machineTestdata + "joining.yaml"

func TestANodeThatJoinsDuringARolloutIsConfiguredBeforeItRunsPods(t *testing.T) {
	c := machinePool(t)
	c.onHost(t, "node3", "systemctl", "stop", "kubelet")
	t.Cleanup(func() { c.onHost(t, "node3", "systemctl", "start", "kubelet") })
	c.kubectl(t, "delete", "node", "node3")
	pools := []string{"machineconfigpool/joining"}
	c.reconfigure(t, pools, func() { c.kubectl(t, "apply", "-f", joiningPool) })
	_, budget := c.guarded(t, "guarded", "node2")
	done := c.rendered(t, pools)
	c.kubectl(t, "patch", "machineconfig", "80-joining", "--type=json",
		"-p", `[{"op":"replace","path":"/spec/config/storage/files/0/contents/source","value":"data:,two"}]`)
	c.wantCondition(t, pools[0], "RolloutBlocked", "True", "DrainBlocked", "node2")

	c.onHost(t, "node3", "systemctl", "start", "kubelet")
	node := c.joins(t, "node3")
	if !isTainted(node) {
		t.Errorf("expected the node to join with the taint %s, got %v", nodepatch.StartupTaint, node.Spec.Taints)
	}
	eventually.True(t, configured, "the node gets the configuration that others have, and loses the taint", func() error {
		node := c.node(t, "node3")
		if node.Spec.Unschedulable || node.Annotations[mcfgv1.DesiredDrainAnnotation] != "" {
			t.Fatalf("expected a node that joins not to be drained, got %v", node.Annotations)
		}
		if isTainted(node) || !isReady(node) {
			return fmt.Errorf("it has taints %v", node.Spec.Taints)
		}
		return nil
	})
	c.wantOnHost(t, "node3", "one", "cat", "/etc/joining")
	if err := c.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	done(configured)
	c.wantOnHost(t, "node3", "two", "cat", "/etc/joining")
	c.removeMachinePool(t)
}

func isTainted(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == nodepatch.StartupTaint })
}

// joins returns a node as it is at its first sight.
func (c *cluster) joins(t *testing.T, name string) *corev1.Node {
	t.Helper()
	node := &corev1.Node{}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := c.Get(t.Context(), client.ObjectKey{Name: name}, node)
		if err == nil {
			return node
		}
		if time.Now().After(deadline) {
			t.Fatalf("expected %s to join: %v", name, err)
		}
	}
}

func TestANodeThatTwoPoolsClaimDoesNotChange(t *testing.T) {
	c := machinePool(t)
	pools := []string{"machineconfigpool/joining", "machineconfigpool/rival"}
	c.reconfigure(t, pools[:1], func() { c.kubectl(t, "apply", "-f", joiningPool) })
	c.kubectl(t, "apply", "-f", machineTestdata+"rival.yaml")
	for _, pool := range pools {
		c.wantCondition(t, pool, "RolloutBlocked", "True", "PoolConflict", "node3", "joining", "rival")
	}
	c.kubectl(t, "patch", "machineconfig", "80-joining", "--type=json",
		"-p", `[{"op":"replace","path":"/spec/config/storage/files/0/contents/source","value":"data:,two"}]`)
	eventually.True(t, configured, "the node that one pool claims changes", func() error {
		if got := c.onHost(t, "node2", "cat", "/etc/joining"); got != "two" {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
	c.wantOnHost(t, "node3", "one", "cat", "/etc/joining")
	c.kubectl(t, "delete", pools[1])
	eventually.True(t, configured, "the node changes when one pool claims it", func() error {
		if got := c.onHost(t, "node3", "cat", "/etc/joining"); got != "two" {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
	c.removeMachinePool(t)
}
