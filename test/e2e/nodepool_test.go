// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
)

const (
	testTaint   = "node-pool.lailin.xyz=test:NoSchedule"
	masterTaint = "node-pool.lailin.xyz=master:NoSchedule"
	testLabel   = "node-pool.lailin.xyz/test"
	masterLabel = "node-pool.lailin.xyz/master"
)

// article returns the path of the manifest of the tutorial article that the NodePool API comes from. The manifest
// contains two NodePools with the names "test" and "master".
func (c *cluster) article(updated bool) string {
	name := "article.yaml"
	if updated {
		name = "article-updated.yaml"
	}
	return filepath.Join(c.root, "test", "crds", "testdata", "nodepools", "accept", name)
}

// articlesFirst returns the path of a file that contains only the NodePool with the name "test". This is the first
// object in the manifest of the tutorial article that the NodePool API comes from.
func (c *cluster) articlesFirst(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(c.article(false))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(text, []byte("\n---\n"))
	file := filepath.Join(t.TempDir(), "first.yaml")
	if err := os.WriteFile(file, first, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSmokeTheArticlesPoolsDoWhatTheArticleShows(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	c.role(t, "node2", "test")
	c.role(t, "node3", "master")
	before := c.carriedByAll(t)

	c.kubectl(t, "apply", "-f", c.article(false))
	c.wantPool(t, "test", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.wantPool(t, "master", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.wantNode(t, "node2", map[string]string{testLabel: ""}, testTaint)
	c.wantNode(t, "node3", map[string]string{masterLabel: "8", testLabel: "2"}, masterTaint)
	c.wantClass(t, "master", map[string]string{masterLabel: "8", testLabel: "2", "node-role.kubernetes.io/master": ""}, masterTaint)
	c.wantOn(t, "in-test", "test", "node2")
	c.wantOn(t, "in-master", "master", "node3")
	c.wantOn(t, "in-no-pool", "", "node1")

	c.kubectl(t, "apply", "-f", c.article(true))
	c.wantClass(t, "master", map[string]string{masterLabel: "10", "node-role.kubernetes.io/master": ""}, masterTaint)
	c.wantNode(t, "node3", map[string]string{masterLabel: "10"}, masterTaint)
	if _, left := c.carriedByAll(t)["node3"].Labels[testLabel]; left {
		t.Errorf("label %s was removed from the pool, but is still on node3", testLabel)
	}
	c.wantPool(t, "master", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.wantRepairInOneWrite(t)
	c.wantQuiet(t, 5*time.Second)

	c.kubectl(t, "delete", "nodepools", "--all", "--timeout=60s")
	c.wantAsBefore(t, before)
}

// wantOn starts a pod and checks that it runs on the given node.
func (c *cluster) wantOn(t *testing.T, name, class, node string) {
	t.Helper()
	if pod := c.pod(t, name, class); pod.Spec.NodeName != node {
		t.Errorf("pod %s with RuntimeClass %q runs on %s, but should run on %s", name, class, pod.Spec.NodeName, node)
	}
}

// wantRepairInOneWrite removes a label that the operator set, and checks that the operator restores it with one write.
func (c *cluster) wantRepairInOneWrite(t *testing.T) {
	t.Helper()
	audit := c.audit(t)
	mark := audit.Mark(t)
	c.kubectl(t, "label", "node", "node3", masterLabel+"-")
	c.wantNode(t, "node3", map[string]string{masterLabel: "10"}, masterTaint)
	c.wantQuiet(t, 2*time.Second)
	writes := audit.Since(t, mark).By(machinesUser).Writes().On("nodes")
	if len(writes) != 1 {
		t.Errorf("the operator should restore a removed label with 1 write of the node, but made:\n%s", writes)
	}
}

// wantQuiet waits until the operator makes no requests for a while. Node heartbeats and leases must not cause requests.
func (c *cluster) wantQuiet(t *testing.T, d time.Duration) {
	t.Helper()
	c.wantQuietBy(t, machinesUser, d)
}

// wantQuietBy waits until the account makes no requests for the given time.
func (c *cluster) wantQuietBy(t *testing.T, user string, d time.Duration) {
	t.Helper()
	audit := c.audit(t)
	var seen testenv.Calls
	for range 10 { // work that is in progress may complete first
		mark := audit.Mark(t)
		time.Sleep(d) // there is no event to wait for
		if seen = audit.Since(t, mark).By(user).Counted(); len(seen) == 0 {
			return
		}
	}
	t.Errorf("the operator should make no requests, but made:\n%s", seen)
}

func TestTwoPoolsOnASharedNodeBothGetTheirPodsThere(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	c.role(t, "node3", "test")
	c.role(t, "node3", "master")
	before := c.carriedByAll(t)

	// Create the pools in different seconds. If both had the same creation time, the name would decide which pool is
	// older.
	c.kubectl(t, "apply", "--server-side", "-f", c.articlesFirst(t))
	c.wantPool(t, "test", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.kubectl(t, "apply", "--server-side", "-f", c.article(false))
	c.wantPool(t, "test", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	master := c.wantPool(t, "master", metav1.ConditionFalse, nodesv1.ReasonHeldByPool)
	if n := len(master.Status.Conflicts); n != 2 {
		t.Errorf("pool master should report 2 conflicts (the taint and a label), but reports %d: %+v", n, master.Status.Conflicts)
	}
	c.wantNode(t, "node3", map[string]string{testLabel: "", masterLabel: "8"}, testTaint)
	c.wantClass(t, "master", map[string]string{masterLabel: "8", "node-role.kubernetes.io/master": ""}, masterTaint, testTaint)
	c.wantOn(t, "in-test", "test", "node3")
	c.wantOn(t, "in-master", "master", "node3")
	c.wantQuiet(t, 3*time.Second)

	c.kubectl(t, "delete", "nodepool", "test", "--timeout=60s")
	c.wantPool(t, "master", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.wantNode(t, "node3", map[string]string{testLabel: "2", masterLabel: "8"}, masterTaint)
	c.kubectl(t, "delete", "nodepool", "master", "--timeout=60s")
	c.wantAsBefore(t, before)
}
