// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodeclaims "github.com/opcrew/opcrew/internal/nodedrain/claims"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// web creates two replicas that prefer a node, and a PodDisruptionBudget that requires a number of them to be ready.
func (c *chores) web(t *testing.T, prefers string, ready int32) *policyv1.PodDisruptionBudget {
	t.Helper()
	labels := map[string]string{"app": "web"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.ns, Name: "web"}}
	d.Spec.Replicas, d.Spec.Selector = new(int32(2)), &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec = corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(1)),
		Containers:                    []corev1.Container{{Name: "web", Image: "busybox:1.35", Command: []string{"sleep", "infinity"}}},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 100,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{prefers}},
			}},
		}}}},
	}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: c.ns, Name: "web"}}
	budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(ready)), Selector: d.Spec.Selector}
	for _, object := range []client.Object{d, budget} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	eventually.True(t, 3*time.Minute, "the replicas run on "+prefers, func() error {
		if nodes := c.webNodes(t); strings.Join(nodes, " ") != prefers+" "+prefers {
			return fmt.Errorf("they run on %v", nodes)
		}
		return nil
	})
	return budget
}

// webNodes returns the nodes of the replicas that are running.
func (c *chores) webNodes(t *testing.T) []string {
	t.Helper()
	list := &corev1.PodList{}
	if err := c.List(t.Context(), list, client.InNamespace(c.ns), client.MatchingLabels{"app": "web"}); err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range list.Items {
		if pod := &list.Items[i]; pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			out = append(out, pod.Spec.NodeName)
		}
	}
	return out
}

func (c *chores) nodeNamed(t *testing.T, name string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The replicas move to other nodes one after the other, as their budget requires, before the command runs.
func TestAFleetDrainsARealNodeBeforeItsCommandRuns(t *testing.T) {
	c := newChores(t)
	budget := c.web(t, "node3", 2)
	hosts := &egov1.Hosts{Names: []egov1.HostName{"node3"}, FleetLimits: egov1.FleetLimits{Drain: &egov1.Drain{}}}
	c.run(t, "upgrade", "echo upgraded", onHosts(hosts))
	eventually.True(t, 2*time.Minute, "the fleet names the pod that blocks", func() error {
		if message := says(c.get(t, "upgrade")); !strings.Contains(message, "node node3 cannot be drained yet: pod "+c.ns+"/web-") {
			return fmt.Errorf("it says %q", message)
		}
		return nil
	})
	if !c.nodeNamed(t, "node3").Spec.Unschedulable {
		t.Error("expected node3 to be cordoned while it is drained")
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"minAvailable":1}}`))
	if err := c.Patch(t.Context(), budget, patch); err != nil {
		t.Fatal(err)
	}
	c.await(t, "upgrade", egov1.StateSucceeded)
	for _, node := range c.webNodes(t) {
		if node == "node3" {
			t.Error("expected no replica on node3 when the command ran")
		}
	}
	eventually.True(t, time.Minute, "node3 is schedulable again", func() error {
		if n := c.nodeNamed(t, "node3"); n.Spec.Unschedulable || n.Annotations[nodeclaims.FleetCordon] != "" {
			return fmt.Errorf("it is cordoned: %t, by %q", n.Spec.Unschedulable, n.Annotations[nodeclaims.FleetCordon])
		}
		return nil
	})
	t.Log(c.kubectl(t, "get", "activity", "upgrade", "-n", c.ns, "-o", "yaml"))
}

// A failure keeps the node cordoned; the deletion of the fleet leaves nothing behind.
func TestARealNodeStaysCordonedAfterAFailureUntilTheFleetIsDeleted(t *testing.T) {
	c := newChores(t)
	hosts := &egov1.Hosts{Names: []egov1.HostName{"node2"}, FleetLimits: egov1.FleetLimits{Drain: &egov1.Drain{}}}
	c.run(t, "upgrade", "exit 3", onHosts(hosts))
	a := c.await(t, "upgrade", egov1.StateFailed)
	if !strings.Contains(says(a), "opcrew keeps these nodes cordoned: node2") || !c.nodeNamed(t, "node2").Spec.Unschedulable {
		t.Errorf("expected node2 to stay cordoned, got %q", says(a))
	}
	c.kubectl(t, "delete", "activity", "upgrade", "-n", c.ns, "--timeout=120s")
	if n := c.nodeNamed(t, "node2"); n.Spec.Unschedulable || n.Annotations[nodeclaims.FleetCordon] != "" {
		t.Errorf("expected no cordon to be left on node2, got %v", n.Annotations)
	}
}
