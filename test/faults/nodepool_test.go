// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/test/faults"
)

const manifests = "test/crds/testdata/nodepools/accept/"

func TestNodePool(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    nodepool.Kind(),
		Primary: &nodesv1.NodePool{},
		Others:  []client.Object{&corev1.Node{}, &nodev1.RuntimeClass{}},
		Truth:   poolIsAsWanted,
		Invariants: []faults.Invariant{
			{Name: "the operator changes only those node fields that pools specify", Check: nodesAreLeftAlone},
			{Name: "the operator removes nothing from a node that its pools specify", Check: nodesAreLedTowards},
			{Name: "a RuntimeClass of the operator has an existing owner", Check: classesHaveOwners},
			{Name: "a pool has one RuntimeClass", Check: oneClass},
		},
		Mask:  maskNode,
		Touch: taintNode,
		Workloads: []faults.Workload{
			small, shared, handler,
		},
	})
}

// small creates, changes and deletes the two pools of the tutorial article that this API comes from.
var small = faults.Workload{
	Name: "small",
	World: func(w *faults.World) {
		w.Nodes(2, "test", map[string]string{"node-role.kubernetes.io/test": ""})
		w.Nodes(1, "master", map[string]string{"node-role.kubernetes.io/master": ""})
	},
	Steps: []faults.Step{
		{
			Name:  "create the article's pools",
			Do:    func(u *faults.User) { u.ApplyFile(manifests + "article.yaml") },
			Until: all(poolReady("test", 2), poolReady("master", 1)),
		},
		{
			Name:  "change master as the article does",
			Do:    func(u *faults.User) { u.ApplyFile(manifests + "article-updated.yaml") },
			Until: all(poolReady("test", 2), poolReady("master", 1)),
		},
		{
			Name:  "delete test",
			Do:    func(u *faults.User) { u.Delete("test", &nodesv1.NodePool{}) },
			Until: all(poolGone("test"), poolReady("master", 1)),
		},
	},
}

// shared lets two pools select the same node, and later only one of them.
var shared = faults.Workload{
	Name:  "shared",
	World: func(w *faults.World) { w.Nodes(2, "n", map[string]string{"zone": "a"}) },
	Steps: []faults.Step{
		{
			Name:  "create gold and silver",
			Do:    func(u *faults.User) { u.Apply(gold + "---" + silver) },
			Until: all(poolReady("gold", 0), poolReady("silver", 2)),
		},
		{
			Name:  "n-0 joins gold",
			Do:    func(u *faults.User) { u.Label("n-0", &corev1.Node{}, "node-role.kubernetes.io/gold", new("")) },
			Until: all(poolReady("gold", 1), poolReady("silver", 2)),
		},
		{
			Name:  "both leave silver",
			Do:    func(u *faults.User) { u.Patch("silver", &nodesv1.NodePool{}, `{"spec":{"nodeSelector":{"zone":"b"}}}`) },
			Until: all(poolReady("gold", 1), poolReady("silver", 0)),
		},
		{
			Name:  "n-0 leaves gold",
			Do:    func(u *faults.User) { u.Label("n-0", &corev1.Node{}, "node-role.kubernetes.io/gold", nil) },
			Until: all(poolReady("gold", 0), poolReady("silver", 0)),
		},
	},
}

const gold = `
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: gold}
spec:
  labels: {example.com/tier: metal}
  annotations: {example.com/note: gold}
  taints: [{key: example.com/tier, value: metal, effect: NoSchedule}]
`

const silver = `
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: silver}
spec:
  nodeSelector: {zone: a}
  labels: {example.com/tier: metal, example.com/silver: "yes"}
  taints: [{key: example.com/tier, value: metal, effect: NoSchedule}]
`

// handler creates a pool while a RuntimeClass of another owner has the name that the pool needs, and then deletes that
// RuntimeClass. Later it changes the handler of the pool, so that the operator must recreate its own RuntimeClass.
var handler = faults.Workload{
	Name:  "handler",
	World: func(w *faults.World) { w.Nodes(1, "n", map[string]string{"node-role.kubernetes.io/gold": ""}) },
	Steps: []faults.Step{
		{
			Name: "another owner takes the name, then the pool is created",
			Do: func(u *faults.User) {
				u.Create(&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, Handler: "theirs"})
				u.Apply(gold)
			},
			Until: condition("gold", "False", "NameTaken"),
		},
		{
			Name: "the other owner goes",
			// If the events of the other owner's RuntimeClass are lost, the operator does not notice the deletion. It
			// then creates its own RuntimeClass only when it retries, which is a minute after the failed attempt.
			Patience: 75 * time.Second,
			Do:       func(u *faults.User) { u.Delete("gold", &nodev1.RuntimeClass{}) },
			Until:    all(poolReady("gold", 1), classHandler("gold", "runc")),
		},
		{
			Name:  "the handler changes",
			Do:    func(u *faults.User) { u.Patch("gold", &nodesv1.NodePool{}, `{"spec":{"handler":"kata"}}`) },
			Until: all(poolReady("gold", 1), classHandler("gold", "kata")),
		},
		{
			Name:  "a user deletes the class",
			Do:    func(u *faults.User) { u.Delete("gold", &nodev1.RuntimeClass{}) },
			Until: all(poolReady("gold", 1), classHandler("gold", "kata")),
		},
	},
}
