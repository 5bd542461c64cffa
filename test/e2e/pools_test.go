// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// testPod is the label of pods that the tests of pools create.
const testPod = "opcrew-test/pool"

// soon is the time limit for an effect that users expect immediately. It is generous, for a busy machine.
const soon = 20 * time.Second

// carried contains the fields of a node that pools may change.
type carried struct {
	Labels, Annotations map[string]string
	Taints              []corev1.Taint
	Unschedulable       bool
}

// removePools deletes the samples, and NodePools and role labels that earlier tests left.
func (c *cluster) removePools(t *testing.T) {
	t.Helper()
	c.removeSamples(t)
	c.kubectl(t, "delete", "nodepools", "--all", "--timeout=60s")
	c.kubectl(t, "delete", "pods", "-n", "default", "-l", testPod, "--now")
	c.kubectl(t, "label", "nodes", "--all", "node-role.kubernetes.io/test-", "node-role.kubernetes.io/master-")
	eventually.True(t, soon, "no pod of earlier tests exists", func() error {
		pods := &corev1.PodList{}
		if err := c.List(t.Context(), pods, client.InNamespace("default"), client.HasLabels{testPod}); err != nil {
			return err
		}
		if len(pods.Items) > 0 {
			return fmt.Errorf("%d still exist", len(pods.Items))
		}
		return nil
	})
}

// carriedByAll returns the current labels, annotations and taints of every node, by the node's name.
func (c *cluster) carriedByAll(t *testing.T) map[string]carried {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	out := map[string]carried{}
	for _, n := range nodes.Items {
		out[n.Name] = carried{n.Labels, n.Annotations, n.Spec.Taints, n.Spec.Unschedulable}
	}
	return out
}

// role adds a node to a pool by setting the pool's role label.
func (c *cluster) role(t *testing.T, node, pool string) {
	t.Helper()
	c.kubectl(t, "label", "node", node, nodesv1.RolePrefix+pool+"=", "--overwrite")
}

// wantNode waits until a node has the given labels, and exactly the given taints.
func (c *cluster) wantNode(t *testing.T, name string, labels map[string]string, taints ...string) {
	t.Helper()
	eventually.True(t, soon, fmt.Sprintf("node %s has labels %v and taints %v", name, labels, taints), func() error {
		node := &corev1.Node{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		for key, value := range labels {
			if found, ok := node.Labels[key]; !ok || found != value {
				return fmt.Errorf("label %s is %q", key, found)
			}
		}
		var found []string
		for _, taint := range node.Spec.Taints {
			found = append(found, taint.ToString())
		}
		slices.Sort(found)
		if !slices.Equal(found, taints) {
			return fmt.Errorf("taints are %v", found)
		}
		return nil
	})
}

// wantPool waits until the condition Ready of a NodePool has the given status and reason.
func (c *cluster) wantPool(t *testing.T, name string, status metav1.ConditionStatus, reason string) *nodesv1.NodePool {
	t.Helper()
	pool := &nodesv1.NodePool{}
	eventually.True(t, soon, fmt.Sprintf("NodePool %s has Ready %s with reason %s", name, status, reason), func() error {
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, pool); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolReady)
		if ready == nil || ready.Status != status || ready.Reason != reason || pool.Status.ObservedGeneration != pool.Generation {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
	return pool
}

// wantClass waits until the RuntimeClass of a pool has the given node selector and tolerations.
func (c *cluster) wantClass(t *testing.T, name string, selector map[string]string, tolerations ...string) {
	t.Helper()
	eventually.True(t, soon, fmt.Sprintf("RuntimeClass %s selects %v and tolerates %v", name, selector, tolerations), func() error {
		class := &nodev1.RuntimeClass{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, class); err != nil {
			return err
		}
		if !maps.Equal(class.Scheduling.NodeSelector, selector) {
			return fmt.Errorf("the node selector is %v", class.Scheduling.NodeSelector)
		}
		var found []string
		for _, s := range class.Scheduling.Tolerations {
			taint := corev1.Taint{Key: s.Key, Value: s.Value, Effect: s.Effect}
			found = append(found, taint.ToString())
		}
		slices.Sort(found)
		if !slices.Equal(found, tolerations) {
			return fmt.Errorf("the tolerations are %v", found)
		}
		return nil
	})
}

// pod starts a pod and waits until it runs. If class is not empty, the pod uses this RuntimeClass.
func (c *cluster) pod(t *testing.T, name, class string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(1)),
		Containers:                    []corev1.Container{{Name: "main", Image: "busybox:1.35", Command: []string{"sleep", "infinity"}}},
	}}
	pod.Namespace, pod.Name = "default", name
	pod.Labels = map[string]string{testPod: ""}
	if class != "" {
		pod.Spec.RuntimeClassName = &class
	}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatalf("create pod %s: %v", name, err)
	}
	c.wantRunning(t, pod)
	return pod
}

func (c *cluster) wantRunning(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	eventually.True(t, time.Minute, "pod "+pod.Name+" runs", func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("phase %s, conditions %+v", pod.Status.Phase, pod.Status.Conditions)
	})
}

// wantAsBefore waits until every node has its earlier labels, annotations and taints again, as recorded in before, and
// the RuntimeClasses of all NodePools are gone.
func (c *cluster) wantAsBefore(t *testing.T, before map[string]carried) {
	t.Helper()
	eventually.True(t, soon, "every node has the same labels, annotations and taints as before the pools", func() error {
		if diff := cmp.Diff(before, c.carriedByAll(t)); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	eventually.True(t, soon, "the RuntimeClasses of pools are gone", func() error {
		classes := &nodev1.RuntimeClassList{}
		if err := c.List(t.Context(), classes, client.MatchingLabels{"app.kubernetes.io/managed-by": "opcrew"}); err != nil {
			return err
		}
		if len(classes.Items) > 0 {
			return fmt.Errorf("%d still exist", len(classes.Items))
		}
		return nil
	})
}
