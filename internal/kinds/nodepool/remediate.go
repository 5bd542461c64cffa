// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	inforce "github.com/opcrew/opcrew/internal/guard/policy"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// observeRemedies reads what the remediation of nodes needs: while all nodes are Ready only what the spec refers to, and
// little until the time in spec.remediation.after has passed.
func (r *poolReconciler) observeRemedies(ctx context.Context, pool *nodesv1.NodePool, f facts) (remediation.Facts, error) {
	out := remediation.Facts{}
	switch {
	case pool.DeletionTimestamp != nil:
		var err error
		out.Runs, err = r.remedyRuns(ctx, pool)
		return out, err
	case pool.Spec.Remediation == nil:
		return out, nil
	}
	var err error
	if out.Outlook, err = r.scout.Observe(ctx, pool); err != nil {
		return out, err
	}
	for _, m := range f.nodes {
		if m.belongs && remediation.Concerns(m.node) && remediates(pool, m.node, f.pools) {
			out.Patients = append(out.Patients, m.node)
		}
	}
	if !slices.ContainsFunc(out.Patients, func(n *corev1.Node) bool { return remediation.Due(n, pool, r.Clock.Now()) }) {
		return out, nil
	}
	return out, r.observeDue(ctx, pool, &out)
}

func remediates(pool *nodesv1.NodePool, node *corev1.Node, pools []*nodesv1.NodePool) bool {
	first := remediation.PoolOf(node, pools)
	return first != nil && first.Name == pool.Name
}

// observeDue reads what an attempt needs: all nodes and their leases, the Activities of the pool, and the policies that
// record requesters.
func (r *poolReconciler) observeDue(ctx context.Context, pool *nodesv1.NodePool, f *remediation.Facts) error {
	var err error
	if f.Obstacle, err = r.remedyObstacle(ctx, pool); err != nil {
		return err
	}
	if f.Runs, err = r.remedyRuns(ctx, pool); err != nil {
		return err
	}
	nodes := &corev1.NodeList{}
	if err := r.Client.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		f.Cluster.Nodes = append(f.Cluster.Nodes, &nodes.Items[i])
	}
	f.Cluster.Renewed, err = remediation.Renewed(ctx, r.Live)
	return err
}

// remedyRuns returns the Activities of the pool by name. An Activity that a record names and the cache lacks is read
// from the API server: the cache can be older than the record.
func (r *poolReconciler) remedyRuns(ctx context.Context, pool *nodesv1.NodePool) (map[string]*egov1.Activity, error) {
	runs := map[string]*egov1.Activity{}
	all, err := poolActivities(ctx, r.Tools, pipeline.PoolKey(pool.UID))
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if remediation.IsRun(a) {
			runs[a.Name] = a
		}
	}
	for i := range pool.Status.Remediation {
		for _, name := range remediation.Recorded(&pool.Status.Remediation[i]) {
			if runs[name] != nil {
				continue
			}
			a := &egov1.Activity{}
			err := r.Live.Get(ctx, client.ObjectKey{Namespace: pipeline.Namespace, Name: name}, a)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read Activity %s: %w", name, err)
			}
			if err == nil {
				runs[name] = a
			}
		}
	}
	return runs, nil
}

// remedyObstacle returns why opcrew may not create Activities for the pool; nil if it may.
func (r *poolReconciler) remedyObstacle(ctx context.Context, pool *nodesv1.NodePool) (*remediation.Obstacle, error) {
	switch {
	case !r.Installed[activitiesCRD]:
		return &remediation.Obstacle{Reason: nodesv1.ReasonActivityMissing, Message: "no machine is fenced, because Activity of opcrew is not installed: install opcrew again, or remove spec.remediation"}, nil
	case pipeline.Requester(pool) == nil:
		return &remediation.Obstacle{Reason: common.ReasonRequesterUnknown, Message: "annotation " + common.RequesterAnnotation +
			" is missing, so opcrew cannot check the rights of who set spec.remediation, and fences no machine: remove the field, and set it again"}, nil
	}
	vouched, err := inforce.InForce(ctx, r.Live, policy)
	if err != nil {
		return nil, fmt.Errorf("read the admission policy %s: %w", policy, err)
	}
	if !vouched {
		return &remediation.Obstacle{Reason: nodesv1.ReasonPolicyMissing, Message: "the admission policy " + policy +
			" is not in force, so opcrew cannot know who set spec.remediation, and fences no machine: install the admission policies of opcrew again"}, nil
	}
	return nil, nil
}

// decideRemedies decides about each node that is not Ready.
func decideRemedies(pool *nodesv1.NodePool, f facts, now time.Time) remediation.Decision {
	var members []*corev1.Node
	for _, m := range f.nodes {
		if m.belongs {
			members = append(members, m.node)
		}
	}
	return remediation.DecideAll(pool, members, f.remedies, now)
}

// reportRemedies reports the remediation of the nodes.
func reportRemedies(set condition.Set, pool *nodesv1.NodePool, d remediation.Decision, done kit.Outcome) {
	const kind = nodesv1.NodePoolRemediation
	pool.Status.RemediationStatus = d.Status()
	blocked := obstacle(set, kind, done)
	switch {
	case pool.Spec.Remediation == nil:
		set.Remove(kind)
	case blocked != nil && d.Creates():
		put(set, kind, blocked)
	default:
		d.Report(set, pool.Status.Remediation)
	}
}
