// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// drainingNode returns a node that opcrew cordoned, and whose agent waits for the drain.
func drainingNode() *corev1.Node {
	n := newNode("a", earlier, annotations{
		machineorder.DesiredConfig: target, machineorder.State: machineorder.StateWorking, machineorder.DesiredDrain: "drain-" + target,
		machineorder.ReportAnnotation: `{"config":"` + target + `","phase":"Drain"}`, "opcrew.io/machine-cordoned": "2026-11-25T12:00:00Z",
	})
	n.Spec.Unschedulable = true
	return n
}

func TestALookAtADrainWakesThePoolOnlyIfItFoundSomethingElse(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	r := &nodeReconciler{&shared{}}
	r.pools.queue = queue
	look := func(message string) int {
		plan := &drain.Plan{Blocked: []drain.Blocked{{Message: message}}}
		r.after(drainingNode(), nodeFacts{fleet: fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{newPool()}}}, nodeDecision{drain: plan}, kit.Outcome{})
		woken := queue.Len()
		for range woken {
			request, _ := queue.Get()
			queue.Done(request)
		}
		return woken
	}
	if first, same, other := look("a"), look("a"), look("b"); first != 1 || same != 0 || other != 1 {
		t.Errorf("expected the pool to be woken by the first look and by a change, got %d, %d and %d", first, same, other)
	}
}

func TestAPoolDoesNotWakeANodeThatLooksAtItsPodsByItself(t *testing.T) {
	p, f := newPool(), facts{}
	f.fleet = fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{p}, Nodes: []*corev1.Node{drainingNode(), newNode("b", target, nil)}}
	if got := (&poolReconciler{}).Decide(p, f, now).ready; len(got) > 0 {
		t.Errorf("expected no node to be woken, because node and pool would wake each other for ever, got %v", got)
	}
}
