// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/firewall"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// ofFirewall is the key of refusals under which is why firewall rules cannot be delivered. No node has this name.
const ofFirewall = "/firewall"

// observeFirewall reads all pools and nodes, if the pool has a firewall, or had one.
func (r *poolReconciler) observeFirewall(ctx context.Context, pool *nodesv1.NodePool) (firewall.World, error) {
	if pool.Spec.Firewall == nil && pool.DeletionTimestamp == nil {
		return firewall.World{}, nil
	}
	return firewall.Read(ctx, r.Client)
}

// decideFirewall judges what the nodes report about the rules of the pool; nil if the pool has no firewall.
func decideFirewall(pool *nodesv1.NodePool, f facts) *firewall.Judgement {
	if pool.Spec.Firewall == nil {
		return nil
	}
	judgement := f.firewall.Judge(pool, f.refusals[ofFirewall])
	return &judgement
}

func reportFirewall(set condition.Set, status *nodesv1.NodePoolStatus, judgement *firewall.Judgement) {
	if judgement == nil {
		status.Firewall = nil
		set.Remove(nodesv1.NodePoolFirewallActive)
		return
	}
	status.Firewall = &nodesv1.FirewallStatus{ActiveNodes: judgement.Active}
	judgement.Report(set)
}

// poolOfRules enqueues the NodePool whose firewall rules a ConfigMap has.
func poolOfRules(_ context.Context, object client.Object) []reconcile.Request {
	name, is := firewall.PoolOf(object.(*corev1.ConfigMap))
	if !is {
		return nil
	}
	return []reconcile.Request{request(name)}
}
