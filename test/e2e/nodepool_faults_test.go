// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// wantCounts waits until the status of a NodePool has the given numbers of nodes and of ready nodes.
func (c *cluster) wantCounts(t *testing.T, name string, total, ready int32) {
	t.Helper()
	eventually.True(t, time.Minute, fmt.Sprintf("NodePool %s has %d nodes, %d of them ready", name, total, ready), func() error {
		pool := &nodesv1.NodePool{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, pool); err != nil {
			return err
		}
		if pool.Status.NodeCount != total || pool.Status.ReadyNodes != ready {
			return fmt.Errorf("the status has %d nodes, %d of them ready", pool.Status.NodeCount, pool.Status.ReadyNodes)
		}
		return nil
	})
}

// crash kills a node. It starts the node again at the end of the test, even if the test fails.
func (c *cluster) crash(t *testing.T, node string) {
	t.Helper()
	c.run(t, "localcluster", "node", "crash", node)
	t.Cleanup(func() { c.start(t, node) })
}

// start starts a crashed node. It returns no error if the node already runs.
func (c *cluster) start(t *testing.T, node string) {
	t.Helper()
	cmd := c.program("localcluster", "node", "start", node)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("start %s: %v\n%s", node, err, out)
	}
}

func TestANodeThatCrashesIsCountedOutAndComesBackIntoItsPool(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	c.role(t, "node3", "master")
	c.kubectl(t, "apply", "-f", c.article(false))
	c.wantPool(t, "master", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	pod := c.pod(t, "in-master", "master")

	c.crash(t, "node3")
	c.wantCounts(t, "master", 1, 0)
	c.start(t, "node3")
	c.wantCounts(t, "master", 1, 1)
	c.wantNode(t, "node3", map[string]string{masterLabel: "8", testLabel: "2"}, masterTaint)
	c.wantRunning(t, pod)
	c.removePools(t)
}

func TestANodeRegisteredAgainWithoutItsRoleLabelHasLeftAndIsClean(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	c.role(t, "node3", "master")
	c.kubectl(t, "apply", "-f", c.article(false))
	c.wantCounts(t, "master", 1, 1)
	c.wantNode(t, "node3", map[string]string{masterLabel: "8"}, masterTaint)

	c.crash(t, "node3")
	c.kubectl(t, "delete", "node", "node3")
	c.wantCounts(t, "master", 0, 0)
	c.start(t, "node3")
	c.wantNode(t, "node3", nil)
	node := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "node3"}, node); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{masterLabel, testLabel} {
		if _, ok := node.Labels[key]; ok {
			t.Errorf("node3 was registered again and belongs to no pool, but still has label %s", key)
		}
	}
	c.wantPool(t, "master", metav1.ConditionTrue, nodesv1.ReasonNoNodes)
	c.role(t, "node3", "master")
	c.wantNode(t, "node3", map[string]string{masterLabel: "8", testLabel: "2"}, masterTaint)
	c.removePools(t)
}

func TestAnOperatorKilledInTheMiddleLeavesNothingHalfDone(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	for _, node := range []string{"node1", "node2", "node3"} {
		c.role(t, node, "test")
	}
	before := c.carriedByAll(t)
	for round := range 3 {
		c.kubectl(t, "apply", "-f", c.article(false))
		c.kill(t, c.leader(t, "machines"))
		for _, node := range []string{"node1", "node2", "node3"} {
			c.wantNode(t, node, map[string]string{testLabel: ""}, testTaint)
		}
		c.kubectl(t, "delete", "nodepools", "--all", "--wait=false")
		c.kill(t, c.leader(t, "machines"))
		eventually.True(t, time.Minute, fmt.Sprintf("the pools are gone in round %d", round), func() error {
			err := c.Get(t.Context(), client.ObjectKey{Name: "test"}, &nodesv1.NodePool{})
			return eventually.Gone(err, apierrors.IsNotFound)
		})
		c.wantAsBefore(t, before)
	}
	c.waitOperator(t, "machines")
}

func TestARestartOfTheOperatorWritesNothing(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	c.role(t, "node2", "test")
	c.role(t, "node3", "master")
	c.kubectl(t, "apply", "-f", c.article(false))
	c.wantPool(t, "test", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.wantPool(t, "master", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.wantQuiet(t, 3*time.Second)

	audit := c.audit(t)
	mark := audit.Mark(t)
	c.kubectl(t, "-n", namespace, "rollout", "restart", "deployment/"+machines)
	c.kubectl(t, "-n", namespace, "rollout", "status", "deployment/"+machines, "--timeout=120s")
	c.waitOperator(t, "machines")
	c.wantQuiet(t, 5*time.Second)
	writes := audit.Since(t, mark).By(machinesUser).Writes().Counted()
	if len(writes) > 0 {
		t.Errorf("after a restart the operator should write nothing, but wrote:\n%s", writes)
	}
	c.removePools(t)
}

func TestADryRunOfNoExecuteNamesThePodsThatItWouldEvict(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	c.role(t, "node3", "master")
	before := c.carriedByAll(t)
	victim := &corev1.Pod{}
	victim.Name = "victim"
	c.kubectl(t, "run", victim.Name, "--image=busybox:1.35", "--labels="+testPod+"=",
		`--overrides={"spec":{"nodeSelector":{"kubernetes.io/hostname":"node3"},"terminationGracePeriodSeconds":1}}`, "--", "sleep", "infinity")
	victim.Namespace = "default"
	c.wantRunning(t, victim)

	pool := &nodesv1.NodePool{}
	pool.Name = "master"
	pool.Annotations = map[string]string{"opcrew.io/dry-run": "true"}
	pool.Spec.Taints = []nodesv1.Taint{{Key: "example.com/only", Effect: corev1.TaintEffectNoExecute}}
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	preview := c.wantPool(t, "master", metav1.ConditionFalse, nodesv1.ReasonDryRun).Status.Preview
	if preview == nil || preview.NodeCount != 1 || !slices.Contains(preview.Evictions, "default/victim on node3") {
		t.Errorf("the preview should name 1 node and pod default/victim, but is %+v", preview)
	}
	c.wantNode(t, "node3", nil)

	c.kubectl(t, "annotate", "nodepool", "master", "opcrew.io/dry-run-")
	c.wantPool(t, "master", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	eventually.True(t, time.Minute, "the pod that was named is evicted", func() error {
		return eventually.Gone(c.Get(t.Context(), client.ObjectKeyFromObject(victim), victim), apierrors.IsNotFound)
	})
	c.kubectl(t, "delete", "nodepool", "master", "--timeout=60s")
	c.wantAsBefore(t, before)
}
