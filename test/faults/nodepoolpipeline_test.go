// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// TestNodePoolPipeline attacks NodePools whose nodes run commands when they join or leave. The operator under attack
// serves only NodePool, and a simulated operator of Activities ends each step.
func TestNodePoolPipeline(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    nodepool.Kind(),
		Primary: &nodesv1.NodePool{},
		Others:  []client.Object{&corev1.Node{}, &nodev1.RuntimeClass{}, &egov1.Activity{}},
		Server:  endSteps,
		Truth:   poolIsAsWanted,
		Invariants: []faults.Invariant{
			{Name: "a step starts after the previous one has succeeded", Check: stepsAreInOrder},
			{Name: "a step of a pipeline runs once", Check: stepsRunOnce},
			{Name: "a node loses the taint after its steps have succeeded", Check: nodesJoinAfterTheirSteps},
			{Name: "a node loses the settings after its steps have ended", Check: nodesLeaveAfterTheirSteps},
		},
		Mask:      maskPipelines,
		Touch:     taintNode,
		Uncounted: []string{"Activity"},
		Workloads: []faults.Workload{joinAndLeave, failAndCorrect, changeItsMind},
	})
}

// endSteps installs what pipelines need, and acts as the operator of Activities: the command true succeeds, false fails,
// and others run until they are cancelled.
func endSteps(t *testing.T, env *testenv.Env) {
	env.Apply(t, "config/cluster/activity_namespace.yaml")
	recordPoolRequesters(t, env)
	eventually.True(t, eventually.Long, "the API server records the requesters of pipelines", func() error {
		trial := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "trial"}}
		trial.Spec.OnJoin = &nodesv1.Pipeline{Steps: []nodesv1.Step{{Name: "a", Template: nodesv1.ActivityTemplate{Command: "true"}}}}
		err := env.Client.Create(t.Context(), trial, client.DryRunAll)
		if err == nil && trial.Annotations[common.RequesterAnnotation] == "" {
			err = errors.New("no policy records the requester yet")
		}
		return err
	})
	ctx := t.Context()
	go func() {
		for ctx.Err() == nil {
			endAll(ctx, env.Client)
			time.Sleep(30 * time.Millisecond)
		}
	}()
}

// endAll ends the Activities that have not ended. Errors are ignored, because the next call tries again.
func endAll(ctx context.Context, c client.Client) {
	list := &egov1.ActivityList{}
	_ = c.List(ctx, list, client.InNamespace("opcrew-activities"))
	for i := range list.Items {
		a := &list.Items[i]
		state := map[string]egov1.State{"true": egov1.StateSucceeded, "false": egov1.StateFailed}[a.Spec.Command]
		switch {
		case a.Status.Prosta != egov1.StatePending && a.Status.Prosta != egov1.StateRunning:
			continue
		case state == "" && a.Spec.Cancel:
			state = egov1.StateCancelled
		case state == "":
			state = egov1.StateRunning
		}
		if a.Status.Prosta == state {
			continue
		}
		a.Status.Prosta = state
		if state != egov1.StateRunning {
			a.Status.EndedAt = &metav1.Time{Time: time.Now()}
		}
		a.Status.Conditions = []metav1.Condition{{Type: egov1.ActivityReady, Status: "True", Reason: "Simulated", Message: "simulated", LastTransitionTime: metav1.Now()}}
		_ = c.Status().Update(ctx, a)
	}
}

func prepared(command string) string {
	return gold + `
  onJoin: {steps: [{name: one, template: {command: "true"}}, {name: two, template: {command: "` + command + `"}}]}
  onLeave: {steps: [{name: bye, template: {command: "true"}}]}
`
}

func roleOf(node string, value *string) func(*faults.User) {
	return func(u *faults.User) { u.Label(node, &corev1.Node{}, "node-role.kubernetes.io/gold", value) }
}

var joinAndLeave = faults.Workload{
	Name:  "join-and-leave",
	World: func(w *faults.World) { w.Nodes(2, "n", nil) },
	Steps: []faults.Step{
		{Name: "create the pool", Do: func(u *faults.User) { u.Apply(prepared("true")) }, Until: poolReady("gold", 0)},
		{Name: "n-0 joins", Do: roleOf("n-0", new("")), Until: all(poolReady("gold", 1), joined("n-0"))},
		{Name: "n-1 joins", Do: roleOf("n-1", new("")), Until: all(poolReady("gold", 2), joined("n-1"))},
		{Name: "n-0 leaves", Do: roleOf("n-0", nil), Until: all(poolReady("gold", 1), clean("n-0"))},
		{Name: "delete the pool", Do: func(u *faults.User) { u.Delete("gold", &nodesv1.NodePool{}) }, Until: all(poolGone("gold"), clean("n-1"), noSteps)},
		{Name: "n-1 loses its role", Do: roleOf("n-1", nil), Until: clean("n-1")},
	},
}

var failAndCorrect = faults.Workload{
	Name:  "fail-and-correct",
	World: func(w *faults.World) { w.Nodes(1, "n", map[string]string{"node-role.kubernetes.io/gold": ""}) },
	Steps: []faults.Step{
		{Name: "create a pool whose second step fails", Do: func(u *faults.User) { u.Apply(prepared("false")) }, Until: condition("gold", "False", "StepFailed")},
		{Name: "correct the step", Do: func(u *faults.User) { u.Apply(prepared("true")) }, Until: all(poolReady("gold", 1), joined("n-0"))},
		{Name: "delete the pool", Do: func(u *faults.User) { u.Delete("gold", &nodesv1.NodePool{}) }, Until: all(poolGone("gold"), clean("n-0"), noSteps)},
	},
}

var changeItsMind = faults.Workload{
	Name:  "change-its-mind",
	World: func(w *faults.World) { w.Nodes(1, "n", nil) },
	Steps: []faults.Step{
		{Name: "create a pool whose second step never ends", Do: func(u *faults.User) { u.Apply(prepared("sleep")) }, Until: poolReady("gold", 0)},
		{Name: "n-0 joins", Do: roleOf("n-0", new("")), Until: stepRuns("two")},
		{Name: "n-0 leaves while it joins", Do: roleOf("n-0", nil), Until: all(poolReady("gold", 0), clean("n-0"))},
		{Name: "delete the pool", Do: func(u *faults.User) { u.Delete("gold", &nodesv1.NodePool{}) }, Until: all(poolGone("gold"), noSteps)},
	},
}

const joiningTaint = nodesv1.JoiningTaint

func carriesJoining(n *corev1.Node) bool { return hasTaint(n, joiningTaint, "") }

func nodeIn(v faults.View, name string) (*corev1.Node, error) {
	n := &corev1.Node{}
	return n, v.Get(name, n)
}

func joined(name string) func(faults.View) error {
	return func(v faults.View) error {
		n, err := nodeIn(v, name)
		if err == nil && (carriesJoining(n) || !strings.Contains(n.Annotations["opcrew.io/nodepools"], `"Joined"`)) {
			err = fmt.Errorf("node %s has %v %v", name, n.Spec.Taints, n.Annotations)
		}
		return err
	}
}

func clean(name string) func(faults.View) error {
	return func(v faults.View) error {
		n, err := nodeIn(v, name)
		if err == nil && (carriesJoining(n) || n.Annotations["opcrew.io/nodepools"] != "" || n.Labels["example.com/tier"] != "") {
			err = fmt.Errorf("node %s has %v %v", name, n.Spec.Taints, n.Annotations)
		}
		return err
	}
}

func noSteps(v faults.View) error {
	if left := v.Objects("Activity"); len(left) > 0 {
		return fmt.Errorf("%d Activities are left", len(left))
	}
	return nil
}

func stepRuns(step string) func(faults.View) error {
	return func(v faults.View) error {
		for _, a := range v.Objects("Activity") {
			if a.GetLabels()["opcrew.io/pipeline-step"] == step && stateOf(a) == "Running" {
				return nil
			}
		}
		return fmt.Errorf("step %s does not run", step)
	}
}

func stateOf(a *unstructured.Unstructured) string {
	state, _, _ := unstructured.NestedString(a.Object, "status", "prosta")
	return state
}

func hostOf(a *unstructured.Unstructured) string {
	host, _, _ := unstructured.NestedString(a.Object, "spec", "host")
	return host
}

// stepsAreInOrder holds if step two starts only after step one of the same run has succeeded.
func stepsAreInOrder(before, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "Activity" || !e.New || e.Object.GetLabels()["opcrew.io/pipeline-step"] != "two" {
		return nil
	}
	for _, a := range before.Objects("Activity") {
		if sameRun(a, e.Object) && a.GetLabels()["opcrew.io/pipeline-step"] == "one" && stateOf(a) == "Succeeded" {
			return nil
		}
	}
	return errors.New("step one has not succeeded")
}

func sameRun(a, b *unstructured.Unstructured) bool {
	return a.GetLabels()["opcrew.io/pipeline-run"] == b.GetLabels()["opcrew.io/pipeline-run"]
}

// stepsRunOnce holds if a run has one Activity for each step, and at most one that has not ended.
func stepsRunOnce(before, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "Activity" || !e.New {
		return nil
	}
	for _, a := range before.Objects("Activity") {
		if sameRun(a, e.Object) && a.GetLabels()["opcrew.io/pipeline-step"] == e.Object.GetLabels()["opcrew.io/pipeline-step"] {
			return fmt.Errorf("Activity %s ran this step before", a.GetName())
		}
		if state := stateOf(a); hostOf(a) == hostOf(e.Object) && (state == "Pending" || state == "Running") {
			return fmt.Errorf("Activity %s has not ended", a.GetName())
		}
	}
	return nil
}

// nodesJoinAfterTheirSteps holds if a member loses the taint only after step two has succeeded on it.
func nodesJoinAfterTheirSteps(before, after faults.View, e faults.Event) error {
	was, now, err := nodeBeforeAndAfter(before, after, e)
	if was == nil || err != nil || !carriesJoining(was) || carriesJoining(now) || leavesGold(before, now) {
		return err
	}
	return succeeded(before, now.Name, "two")
}

// leavesGold reports whether a node is no member of the pool, or the pool is being deleted.
func leavesGold(v faults.View, n *corev1.Node) bool {
	_, member := n.Labels["node-role.kubernetes.io/gold"]
	pool := &nodesv1.NodePool{}
	return !member || v.Get("gold", pool) != nil || pool.DeletionTimestamp != nil
}

// nodesLeaveAfterTheirSteps holds if a node loses the label of the pool only after step bye has succeeded on it.
func nodesLeaveAfterTheirSteps(before, after faults.View, e faults.Event) error {
	was, now, err := nodeBeforeAndAfter(before, after, e)
	if was == nil || err != nil || was.Labels["example.com/tier"] == "" || now.Labels["example.com/tier"] != "" {
		return err
	}
	return succeeded(before, now.Name, "bye")
}

func nodeBeforeAndAfter(before, after faults.View, e faults.Event) (was, now *corev1.Node, err error) {
	if e.Key.Kind != "Node" || e.Write == "" {
		return nil, nil, nil
	}
	if was, err = nodeIn(before, e.Key.Name); err != nil {
		return nil, nil, err
	}
	now, err = nodeIn(after, e.Key.Name)
	return was, now, err
}

func succeeded(v faults.View, node, step string) error {
	for _, a := range v.Objects("Activity") {
		if hostOf(a) == node && a.GetLabels()["opcrew.io/pipeline-step"] == step && stateOf(a) == "Succeeded" {
			return nil
		}
	}
	return fmt.Errorf("step %s has not succeeded on node %s", step, node)
}

// maskPipelines removes what depends on the time and on UIDs: the Activities, whose names do, and the marks of
// pipelines in the ledger annotation.
func maskPipelines(object *unstructured.Unstructured) {
	maskNode(object)
	switch object.GetKind() {
	case "Activity":
		object.Object = map[string]any{}
	case "Node":
		notes, record := object.GetAnnotations(), map[string]any{}
		if json.Unmarshal([]byte(notes["opcrew.io/nodepools"]), &record) != nil {
			return
		}
		delete(record, "pipelines")
		text, _ := json.Marshal(record) // cannot fail, because it was JSON before
		notes["opcrew.io/nodepools"] = string(text)
		object.SetAnnotations(notes)
	case "NodePool":
		unstructured.RemoveNestedField(object.Object, "status", "pipelines")
	}
}
