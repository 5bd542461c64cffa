// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/opcrew/opcrew/test/testenv/operator"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

const manifests = "internal/kinds/nodepool/testdata/"

func tolerates(value string) corev1.Toleration {
	return corev1.Toleration{Key: "node-pool.lailin.xyz", Operator: corev1.TolerationOpEqual, Value: value, Effect: noSchedule}
}

func articlePod(t *testing.T, namespace, class string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "in-" + class}}
	p.Spec.RuntimeClassName = &class
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "any.example/image:v1"}}
	operator.Until(t, "a pod of class "+class+" is admitted", func() error { return env.Client.Create(t.Context(), p) })
	return p
}

func awaitPodOn(t *testing.T, pod *corev1.Pod, node string) {
	t.Helper()
	operator.Until(t, fmt.Sprintf("pod %s runs on node %s", pod.Name, node), func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Spec.NodeName != node || pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("it is %s on %q: %v", pod.Status.Phase, pod.Spec.NodeName, pod.Status.Conditions)
		}
		return nil
	})
}

func awaitScheduling(t *testing.T, class string, selector labelMap, tolerations ...corev1.Toleration) {
	t.Helper()
	operator.Until(t, fmt.Sprintf("RuntimeClass %s selects %v and tolerates %v", class, selector, tolerations), func() error {
		c := &nodev1.RuntimeClass{}
		if err := env.Client.Get(t.Context(), client.ObjectKey{Name: class}, c); err != nil {
			return err
		}
		want := &nodev1.Scheduling{NodeSelector: selector, Tolerations: tolerations}
		if diff := cmp.Diff(want, c.Scheduling, cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("not so (-expected +found):\n%s", diff)
		}
		return nil
	})
}

func TestTheArticlesPoolsOnNodesOfTheirOwn(t *testing.T) {
	test := makeNodes(t, 1, "article-test", role("test"), hasLabel("karpenter.sh/nodepool", "x"), hasLabel("a", "b"), hasTaint("ToBeDeletedByClusterAutoscaler", "1", corev1.TaintEffectPreferNoSchedule))[0]
	master := makeNodes(t, 1, "article-master", role("master"))[0]
	before := likenesses(t, []string{test, master})
	env.Operator(t)
	removeLater(t, "test")
	removeLater(t, "master")

	env.Apply(t, manifests+"nodepool.yaml")
	awaitNode(t, test, likeness{Labels: labelMap{"node-pool.lailin.xyz/test": "", "a": "b", "karpenter.sh/nodepool": "x"}, Taints: []string{"ToBeDeletedByClusterAutoscaler=1:PreferNoSchedule", "node-pool.lailin.xyz=test:NoSchedule"}})
	awaitNode(t, master, likeness{Labels: labelMap{"node-pool.lailin.xyz/master": "8", "node-pool.lailin.xyz/test": "2"}, Taints: []string{"node-pool.lailin.xyz=master:NoSchedule"}})
	for _, name := range []string{"test", "master"} {
		p := awaitReady(t, name, 1)
		cpu, pods := p.Status.Allocatable["cpu"], p.Status.Allocatable["pods"]
		if p.Status.Status != 200 || p.Status.ReadyNodes != 1 || cpu.String() != "8" || pods.String() != "110" {
			t.Errorf("NodePool %s: expected status 200, one ready node and the sum of its allocatable, got %+v", name, p.Status)
		}
	}
	awaitScheduling(t, "test", labelMap{"node-role.kubernetes.io/test": "", "node-pool.lailin.xyz/test": ""}, tolerates("test"))
	awaitScheduling(t, "master", labelMap{"node-role.kubernetes.io/master": "", "node-pool.lailin.xyz/master": "8", "node-pool.lailin.xyz/test": "2"}, tolerates("master"))
	if c := getClass(t, "test"); c.Handler != "runc" || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].UID != getPool(t, "test").UID {
		t.Errorf("RuntimeClass test: expected handler runc and the pool as owner, got %s and %v", c.Handler, c.OwnerReferences)
	}
	ns := env.Namespace(t)
	awaitPodOn(t, articlePod(t, ns, "test"), test)
	awaitPodOn(t, articlePod(t, ns, "master"), master)

	env.Apply(t, manifests+"nodepool-updated.yaml")
	awaitReady(t, "master", 1)
	awaitNode(t, master, likeness{Labels: labelMap{"node-pool.lailin.xyz/master": "10"}})
	if _, ok := getNode(t, master).Labels["node-pool.lailin.xyz/test"]; ok {
		t.Error("expected the label that the spec no longer has to be gone from the node")
	}
	awaitScheduling(t, "master", labelMap{"node-role.kubernetes.io/master": "", "node-pool.lailin.xyz/master": "10"}, tolerates("master"))

	deletePool(t, "test")
	deletePool(t, "master")
	for _, name := range []string{"test", "master"} {
		awaitPoolGone(t, name)
		awaitClassGone(t, name)
	}
	awaitLikeness(t, before)
}

func TestTheArticlesPoolsOnOneSharedNode(t *testing.T) {
	env.Operator(t)
	removeLater(t, "test")
	removeLater(t, "master")
	env.Apply(t, manifests+"nodepool.yaml")
	// The older pool wins a conflict. If both were created within the same second, the name decides.
	winner, loser, values := "test", "master", labelMap{"node-pool.lailin.xyz/test": ""}
	if at := getPool(t, "master").CreationTimestamp; !getPool(t, "test").CreationTimestamp.Before(&at) {
		winner, loser, values = "master", "test", labelMap{"node-pool.lailin.xyz/test": "2"}
	}
	values["node-pool.lailin.xyz/master"] = "8"
	awaitReady(t, "test", 0)
	awaitReady(t, "master", 0)
	node := makeNodes(t, 1, "shared")[0]
	before := likenesses(t, []string{node})
	mark := env.Audit.Mark(t)
	changeNode(t, node, role("test"), role("master"))

	awaitNode(t, node, likeness{Labels: values, Taints: []string{"node-pool.lailin.xyz=" + winner + ":NoSchedule"}})
	awaitReady(t, winner, 1)
	p := awaitCondition(t, loser, nodesv1.NodePoolReady, "False HeldByPool", "label node-pool.lailin.xyz/test should have the value", "NodePool "+winner, node)
	if len(p.Status.Conflicts) != 2 || p.Status.Conflicts[0].Owner != winner || p.Status.Conflicts[1].Key != "node-pool.lailin.xyz:NoSchedule" {
		t.Errorf("expected the label and the taint in status.conflicts, got %+v", p.Status.Conflicts)
	}
	// At most two writes per node: the first sets the labels, the second sets the taint, which waits until both
	// RuntimeClasses tolerate it.
	if done := nodeWrites(env.Settled(t, mark)).Named("", node); len(done) > 2 {
		t.Errorf("expected two writes of the node, got %d:\n%s", len(done), done)
	}
	env.Rests(t) // the two pools must not undo each other's changes

	// Despite the conflict, pods of both RuntimeClasses must run on these nodes.
	ns := env.Namespace(t)
	awaitPodOn(t, articlePod(t, ns, loser), node)
	awaitPodOn(t, articlePod(t, ns, winner), node)

	deletePool(t, winner)
	awaitPoolGone(t, winner)
	awaitReady(t, loser, 1)
	awaitNode(t, node, likeness{Taints: []string{"node-pool.lailin.xyz=" + loser + ":NoSchedule"}})
	deletePool(t, loser)
	awaitPoolGone(t, loser)
	changeNode(t, node, lacksRole("test"), lacksRole("master"))
	awaitLikeness(t, before)
}
