// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
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
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// maxRemediation is the maximum number of nodes of a pool that are remediated at the same time. Each needs a record in
// the status.
const maxRemediation = 16

// remedyFacts holds what is read about nodes that are not Ready. It is empty while all nodes are.
type remedyFacts struct {
	patients []*corev1.Node
	runs     map[string]*egov1.Activity
	cluster  remediation.Cluster
	obstacle *remediation.Obstacle
}

// remedyDecision holds what becomes of the nodes that are not Ready.
type remedyDecision struct {
	inputs   []*remediation.Input
	verdicts []*remediation.Verdict
	left     int // nodes that are not Ready and have no record, because too many have one
}

// observeRemedies reads what the remediation of nodes needs. It reads nothing while all nodes are Ready, and little
// until the time in spec.remediation.after has passed.
func (r *poolReconciler) observeRemedies(ctx context.Context, pool *nodesv1.NodePool, f facts) (remedyFacts, error) {
	out := remedyFacts{}
	switch {
	case pool.DeletionTimestamp != nil:
		var err error
		out.runs, err = r.remedyRuns(ctx, pool)
		return out, err
	case pool.Spec.Remediation == nil:
		return out, nil
	}
	for _, m := range f.nodes {
		if m.belongs && remediation.Concerns(m.node) && remediates(pool, m.node, f.pools) {
			out.patients = append(out.patients, m.node)
		}
	}
	if !slices.ContainsFunc(out.patients, func(n *corev1.Node) bool { return remediation.Due(n, pool, r.Clock.Now()) }) {
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
func (r *poolReconciler) observeDue(ctx context.Context, pool *nodesv1.NodePool, f *remedyFacts) error {
	var err error
	if f.obstacle, err = r.remedyObstacle(ctx, pool); err != nil {
		return err
	}
	if f.runs, err = r.remedyRuns(ctx, pool); err != nil {
		return err
	}
	nodes := &corev1.NodeList{}
	if err := r.Client.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		f.cluster.Nodes = append(f.cluster.Nodes, &nodes.Items[i])
	}
	f.cluster.Renewed, err = remediation.Renewed(ctx, r.Live)
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

// decideRemedies decides about each node that is not Ready. Nodes with a record come first, and then those that are
// down for the longest time.
func decideRemedies(pool *nodesv1.NodePool, f facts, now time.Time) remedyDecision {
	d := remedyDecision{}
	var members []*corev1.Node
	for _, m := range f.nodes {
		if m.belongs {
			members = append(members, m.node)
		}
	}
	patients := slices.SortedFunc(slices.Values(f.remedies.patients), func(a, b *corev1.Node) int { return comparePatients(pool, a, b) })
	for i, node := range patients {
		if i >= maxRemediation {
			d.left = len(patients) - i
			break
		}
		in := &remediation.Input{
			Now: now, Node: node, Cluster: f.remedies.cluster, Runs: f.remedies.runs, Obstacle: f.remedies.obstacle,
			Record: remediation.RecordOf(node, pool.Status.Remediation),
			Pool: remediation.Pool{
				Name: pool.Name, UID: pool.UID, Spec: pool.Spec.Remediation, Requester: pipeline.Requester(pool),
				Frozen: nodestate.Frozen(pool), Members: members,
			},
		}
		d.inputs, d.verdicts = append(d.inputs, in), append(d.verdicts, remediation.Decide(in))
	}
	return d
}

func comparePatients(pool *nodesv1.NodePool, a, b *corev1.Node) int {
	rank := func(n *corev1.Node) int {
		if remediation.RecordOf(n, pool.Status.Remediation) != nil || remediation.Fenced(n) {
			return 0
		}
		return 1
	}
	_, sinceA := remediation.Ready(a)
	_, sinceB := remediation.Ready(b)
	return cmp.Or(rank(a)-rank(b), sinceA.Compare(sinceB), cmp.Compare(a.Name, b.Name))
}

// plan adds the Activities that start.
func (d remedyDecision) plan(plan *kit.Plan) {
	for i, v := range d.verdicts {
		plan.LookAgain(v.Again)
		for _, run := range v.Create {
			plan.Children = append(plan.Children, remediation.Child(d.inputs[i], run))
		}
	}
}

// report reports the remediation of the nodes.
func (d remedyDecision) report(set condition.Set, pool *nodesv1.NodePool, done kit.Outcome) {
	const kind = nodesv1.NodePoolRemediation
	pool.Status.RemediationStatus = remediation.Status(d.verdicts, d.left)
	blocked := obstacle(set, kind, done)
	switch {
	case pool.Spec.Remediation == nil:
		set.Remove(kind)
	case blocked != nil && remediation.Creates(d.verdicts):
		put(set, kind, blocked)
	default:
		remediation.Report(set, pool.Status.Remediation, d.verdicts)
	}
}

// dropAll deletes all Activities of the remediations of a deleted NodePool.
func (f remedyFacts) dropAll(plan *kit.Plan) {
	isList := func(l client.ObjectList) bool { _, ok := l.(*egov1.ActivityList); return ok }
	if len(f.runs) > 0 && !slices.ContainsFunc(plan.Prune, isList) {
		plan.Prune = append(plan.Prune, &egov1.ActivityList{})
	}
}

// orRemedies extends a function that reports which Activities stay by those of remediations, which end by themselves.
func orRemedies(stays func(client.Object) bool) func(client.Object) bool {
	return func(object client.Object) bool {
		return object.GetLabels()[remediation.RunLabel] != "" || stays(object)
	}
}
