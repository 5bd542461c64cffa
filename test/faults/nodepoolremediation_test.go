// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// TestNodePoolRemediation attacks a NodePool that fences a dead machine. The operator under attack serves only NodePool,
// and a simulated operator of Activities ends each command. An attempt takes more than ten seconds, because the two
// power status commands must be ten seconds apart.
func TestNodePoolRemediation(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    nodepool.Kind(),
		Primary: &nodesv1.NodePool{},
		Others:  []client.Object{&corev1.Node{}, &nodev1.RuntimeClass{}, &egov1.Activity{}},
		Server:  endRemedies,
		Truth:   poolIsAsWanted,
		Invariants: []faults.Invariant{
			{Name: "a node is out of service only with evidence", Check: markedWithEvidence},
			{Name: "an attempt has one fence command", Check: fencedOnce},
		},
		Mask:      maskRemediation,
		Touch:     taintNode,
		Uncounted: []string{"Activity"},
		Patience:  3 * time.Minute,
		Silence:   15 * time.Second,
		Workloads: []faults.Workload{dieAndReturn, lie},
	})
}

// endRemedies installs what remediations need, and acts as the operator of Activities: echo prints its text, and a probe
// gets no answer.
func endRemedies(t *testing.T, env *testenv.Env) {
	env.Apply(t, "config/cluster/activity_namespace.yaml")
	recordPoolRequesters(t, env)
	eventually.True(t, eventually.Long, "the API server records the requesters of remediations", func() error {
		trial := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "trial"}}
		command := nodesv1.RemediationCommand{Command: "true"}
		trial.Spec.Remediation = &nodesv1.Remediation{Fence: command, PowerStatus: command}
		err := env.Client.Create(t.Context(), trial, client.DryRunAll)
		if err == nil && trial.Annotations[common.RequesterAnnotation] == "" {
			err = errors.New("no policy records the requester yet")
		}
		return err
	})
	ctx := t.Context()
	go func() {
		for ctx.Err() == nil {
			printAll(ctx, env.Client)
			time.Sleep(30 * time.Millisecond)
		}
	}()
}

// printAll ends the Activities that have not ended. Errors are ignored, because the next call tries again.
func printAll(ctx context.Context, c client.Client) {
	list := &egov1.ActivityList{}
	_ = c.List(ctx, list, client.InNamespace("opcrew-activities"))
	for i := range list.Items {
		a := &list.Items[i]
		if a.Status.Prosta != egov1.StatePending {
			continue
		}
		text, isEcho := strings.CutPrefix(a.Spec.Command, "echo ")
		if !isEcho {
			text = "no answer"
		}
		a.Status.Prosta, a.Status.Output, a.Status.EndedAt = egov1.StateSucceeded, text, &metav1.Time{Time: time.Now()}
		a.Status.Conditions = []metav1.Condition{{Type: egov1.ActivityReady, Status: "True", Reason: "Simulated", Message: "simulated", LastTransitionTime: metav1.Now()}}
		_ = c.Status().Update(ctx, a)
	}
}

func remediating(power string, attempts int) string {
	return gold + fmt.Sprintf(`
  remediation:
    after: 1m
    minHealthy: 1
    pauseSeconds: 10
    maxAttempts: %d
    fence: {command: "echo fenced"}
    powerStatus: {command: "echo %s"}
`, attempts, power)
}

// withDeadNode creates three nodes, and one that has not been Ready for an hour. Nothing simulates its kubelet, so nothing
// renews its lease.
func withDeadNode(w *faults.World) {
	w.Nodes(3, "n", map[string]string{"node-role.kubernetes.io/gold": ""})
	past := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "dead", Labels: map[string]string{"node-role.kubernetes.io/gold": ""},
	}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: past, LastHeartbeatTime: metav1.Now()}}
	n.Status.NodeInfo.BootID = "first"
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.99.0.1"}}
	w.Create(n)
	w.Await("Kubernetes has marked the dead node", func(ctx context.Context, c client.Client) error {
		if err := c.Get(ctx, client.ObjectKey{Name: "dead"}, n); err != nil {
			return err
		}
		if !hasTaint(n, "node.kubernetes.io/unreachable", "") {
			return fmt.Errorf("it has %v", n.Spec.Taints)
		}
		return nil
	})
}

// dieAndReturn fences a dead machine, which then returns.
var dieAndReturn = faults.Workload{
	Name:  "die-and-return",
	World: withDeadNode,
	Steps: []faults.Step{
		{
			Name:  "create a pool that fences",
			Do:    func(u *faults.User) { u.Apply(remediating("off", 10)) },
			Until: all(outOfService(true), remediationIs("True", nodesv1.ReasonRemediating)),
		},
		{
			Name: "the machine returns",
			Do: func(u *faults.User) {
				now := time.Now().UTC().Format(time.RFC3339)
				u.PatchStatus("dead", &corev1.Node{}, fmt.Sprintf(`{"status":{"nodeInfo":{"bootID":"second"},"conditions":[
					{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":%q,"lastTransitionTime":%q}]}}`, now, now))
			},
			Until: all(outOfService(false), poolReady("gold", 4), remediationIs("True", nodesv1.ReasonNoDeadNodes)),
		},
		{
			Name:  "delete the pool",
			Do:    func(u *faults.User) { u.Delete("gold", &nodesv1.NodePool{}) },
			Until: all(poolGone("gold"), outOfService(false), noSteps),
		},
	},
}

// lie has a fence command that does not fence.
var lie = faults.Workload{
	Name:  "lie",
	World: withDeadNode,
	Steps: []faults.Step{
		{
			Name:  "create a pool whose machine stays on",
			Do:    func(u *faults.User) { u.Apply(remediating("on", 1)) },
			Until: all(outOfService(false), condition("gold", "False", nodesv1.ReasonRemediationFailed)),
		},
		{
			Name:  "stop to remediate",
			Do:    func(u *faults.User) { u.Patch("gold", &nodesv1.NodePool{}, `{"spec":{"remediation":null}}`) },
			Until: all(outOfService(false), condition("gold", "True", "")),
		},
	},
}

func isOutOfService(n *corev1.Node) bool {
	return hasTaint(n, "node.kubernetes.io/out-of-service", "fenced-by-opcrew")
}

func outOfService(want bool) func(faults.View) error {
	return func(v faults.View) error {
		n, err := nodeIn(v, "dead")
		if err == nil && isOutOfService(n) != want {
			err = fmt.Errorf("the node has %v", n.Spec.Taints)
		}
		return err
	}
}

func remediationIs(status metav1.ConditionStatus, reason string) func(faults.View) error {
	return func(v faults.View) error {
		pool := &nodesv1.NodePool{}
		if err := v.Get("gold", pool); err != nil {
			return err
		}
		for _, c := range pool.Status.Conditions {
			if c.Type == nodesv1.NodePoolRemediation && c.Status == status && c.Reason == reason && c.ObservedGeneration == pool.Generation {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %+v", pool.Status.Conditions)
	}
}

// markedWithEvidence holds if a node becomes out of service only after all commands of one attempt have shown that its
// machine is off.
func markedWithEvidence(before, after faults.View, e faults.Event) error {
	was, now, err := nodeBeforeAndAfter(before, after, e)
	if was == nil || err != nil || isOutOfService(was) || !isOutOfService(now) {
		return err
	}
	shown := map[string]int{}
	for _, a := range before.Objects("Activity") {
		role := a.GetLabels()["opcrew.io/remediation"]
		output, _, _ := unstructured.NestedString(a.Object, "status", "output")
		if output == map[string]string{"power-1": "off", "power-2": "off", "peer-1": "no answer", "peer-2": "no answer"}[role] && hostOf(a) != now.Name {
			shown[strings.TrimSuffix(a.GetName(), role)]++
		}
	}
	for _, n := range shown {
		if n == 4 {
			return nil
		}
	}
	return fmt.Errorf("no attempt has all evidence: %v", shown)
}

// fencedOnce holds if a fence command starts only after all other commands have ended, and once per attempt.
func fencedOnce(before, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "Activity" || !e.New || e.Object.GetLabels()["opcrew.io/remediation"] != "fence" {
		return nil
	}
	for _, a := range before.Objects("Activity") {
		if a.GetName() == e.Object.GetName() || stateOf(a) == "Pending" {
			return fmt.Errorf("Activity %s exists, in state %s", a.GetName(), stateOf(a))
		}
	}
	return nil
}

// maskRemediation removes what depends on the time and on UIDs.
func maskRemediation(object *unstructured.Unstructured) {
	maskPipelines(object)
	switch object.GetKind() {
	case "NodePool":
		unstructured.RemoveNestedField(object.Object, "status", "remediation")
	case "Node":
		// Kubernetes and the simulation mark nodes that are not Ready.
		notes := object.GetAnnotations()
		delete(notes, "node.alpha.kubernetes.io/ttl")
		object.SetAnnotations(notes)
		taints, _, _ := unstructured.NestedSlice(object.Object, "spec", "taints")
		taints = slices.DeleteFunc(taints, func(t any) bool {
			return slices.Contains([]any{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}, t.(map[string]any)["key"])
		})
		if unstructured.RemoveNestedField(object.Object, "spec", "taints"); len(taints) > 0 {
			_ = unstructured.SetNestedSlice(object.Object, taints, "spec", "taints")
		}
	}
}
