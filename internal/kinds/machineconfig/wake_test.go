// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/drain"
	"github.com/opcrew/opcrew/internal/kit"
)

// Regression: during a drain, the reconcilers of pools and of nodes woke each other without a pause, also while the API
// server refused the writes.
func TestADrainThatDoesNotChangeWakesNoPool(t *testing.T) {
	pools := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer pools.ShutDown()
	r := &nodeReconciler{&shared{}}
	if err := r.pools.source().Start(context.Background(), pools); err != nil {
		t.Fatal(err)
	}
	n := newNode("a", "rendered-gold-1", nil)
	f := nodeFacts{drain: &drain.Input{Now: now, Node: "a"}}
	f.fleet.Pools, f.fleet.Nodes = []*mcfgv1.MachineConfigPool{newPool()}, []*corev1.Node{n}
	for i, want := range []int{1, 0, 0} {
		r.after(n, f, kit.Outcome{})
		if pools.Len() != want {
			t.Fatalf("look %d: expected %d pools to be woken, got %d", i+1, want, pools.Len())
		}
		if want > 0 {
			request, _ := pools.Get()
			pools.Done(request)
		}
	}
}
