// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// guarded runs a pod on a node, and a PodDisruptionBudget that forbids its eviction.
func (c *cluster) guarded(t *testing.T, name, node string) (*corev1.Pod, *policyv1.PodDisruptionBudget) {
	t.Helper()
	labels := map[string]string{"guarded": name}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels}, Spec: corev1.PodSpec{
		NodeName: node, TerminationGracePeriodSeconds: new(int64(1)),
		Containers: []corev1.Container{{Name: "main", Image: "busybox:1.35", Command: []string{"sleep", "infinity"}}},
	}}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels}}
	for _, o := range []client.Object{pod, budget} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.kubectl(t, "delete", "pod,pdb", name, "-n", "default", "--ignore-not-found", "--force") })
	}
	eventually.True(t, time.Minute, "pod "+name+" runs", func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.Status.Phase == corev1.PodRunning {
			return err
		}
		return fmt.Errorf("it is %s", pod.Status.Phase)
	})
	return pod, budget
}

func TestAPoolOfThreeRespectsABudgetAndItsPause(t *testing.T) {
	nodes := []string{"node1", "node2", "node3"}
	c := machinePool(t, nodes...)
	c.reconfigure(t, worker, func() { c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml") })
	pod, budget := c.guarded(t, "guarded", "node2")
	done := c.rendered(t, worker)
	c.motd(t, "one")
	c.wantCondition(t, worker[0], "RolloutBlocked", "True", "DrainBlocked", "node2", "default/guarded", "PodDisruptionBudget")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.DeletionTimestamp != nil {
		t.Errorf("expected the guarded pod to stay, got %v, %v", err, pod.DeletionTimestamp)
	}
	if changing := c.unschedulable(t, nodes); len(changing) != 1 {
		t.Errorf("expected one node at a time to be drained, got %q", changing)
	}
	if err := c.Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	done(configured)

	c.kubectl(t, "patch", worker[0], "--type=merge", "-p", `{"spec":{"paused":true}}`)
	before := c.poolField(t, worker[0], "{.spec.configuration.name}")
	c.motd(t, "two")
	c.wantState(t, time.Minute, worker[0], "the plan of the paused pool names the file", func(state string) error {
		if strings.HasPrefix(state, before) || !strings.Contains(state, "/etc/worker-motd") || !strings.Contains(state, "reboots") {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	}, "{.spec.configuration.name} {.status.plans[0].summary}")
	eventually.Stays(t, 15*time.Second, "no node of a paused pool changes", func() error {
		if changing := c.changing(t, nodes...); len(changing) > 0 {
			return fmt.Errorf("%q change", changing)
		}
		return nil
	})
	c.kubectl(t, "patch", worker[0], "--type=merge", "-p", `{"spec":{"paused":false}}`)
	done(configured)
	for _, node := range nodes {
		c.wantOnHost(t, node, "two", "cat", "/etc/worker-motd")
	}
	c.removeMachinePool(t)
}

func (c *cluster) unschedulable(t *testing.T, nodes []string) (out []string) {
	t.Helper()
	for _, name := range nodes {
		if c.node(t, name).Spec.Unschedulable {
			out = append(out, name)
		}
	}
	return out
}

func TestANodeThatIsLostDuringItsUpdateStopsTheOthersUntilItReturns(t *testing.T) {
	nodes := []string{"node2", "node3"}
	c := machinePool(t, nodes...)
	c.reconfigure(t, worker, func() { c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml") })
	done := c.rendered(t, worker)
	c.motd(t, "one")
	lost := ""
	eventually.True(t, time.Minute, "a node begins to change", func() error {
		for _, name := range c.unschedulable(t, nodes) {
			lost = name
			return nil
		}
		return fmt.Errorf("no node is cordoned")
	})
	c.crash(t, lost)
	eventually.True(t, 2*time.Minute, "Kubernetes notices that "+lost+" is lost", func() error {
		if isReady(c.node(t, lost)) {
			return fmt.Errorf("it is ready")
		}
		return nil
	})
	c.wantState(t, time.Minute, worker[0], "the status names the lost node", func(state string) error {
		if !strings.Contains(state, lost) {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	}, `{.status.unavailableMachineCount} {.status.nodes}`)
	eventually.Stays(t, 20*time.Second, "the other node does not change", func() error {
		if changing := c.changing(t, nodes...); len(changing) != 1 {
			return fmt.Errorf("%q change", changing)
		}
		return nil
	})
	c.start(t, lost)
	done(configured)
	c.removeMachinePool(t)
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
