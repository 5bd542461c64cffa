// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	inforce "github.com/opcrew/opcrew/internal/guard/policy"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
)

// activitiesCRD is the CRD of Activity. Without it no step of a pipeline runs.
const activitiesCRD = "activities.ego.example.com"

// stepIndex is the cache index that finds Activities of pipelines by their node and by their NodePool.
const stepIndex = "nodepool-pipelines"

// stepFacts holds what is read about the pipelines of a NodePool.
type stepFacts struct {
	installed  bool
	activities []*egov1.Activity
	runs       []pipeline.Run
	// vouched is set if the admission policy is in force that records requesters. It is only read if a step starts.
	vouched bool
}

func (r *poolReconciler) observeSteps(ctx context.Context, pool *nodesv1.NodePool, members []*member) (stepFacts, error) {
	f := stepFacts{installed: r.Installed[activitiesCRD]}
	var err error
	if f.activities, err = activitiesOf(ctx, r.Tools, pipeline.PoolKey(pool.UID)); err != nil {
		return f, err
	}
	nodes := make([]*corev1.Node, len(members))
	for i, m := range members {
		nodes[i] = m.node
	}
	if f.runs = pipeline.Runs(pool, nodes, f.activities, r.Clock.Now()); !pipeline.Starts(f.runs) {
		return f, nil
	}
	if f.vouched, err = inforce.InForce(ctx, r.Live, policy); err != nil {
		return f, fmt.Errorf("read the admission policy %s: %w", policy, err)
	}
	return f, nil
}

// stepDecision holds what is decided about the pipelines of a NodePool.
type stepDecision struct {
	stepFacts
	// problem is why no step starts, although one should; nil if nothing is wrong.
	problem *problem
}

// decideSteps decides whether steps may start. A step is root on a node with the rights of the recorded requester, so
// it starts only if the API server has recorded that user.
func decideSteps(pool *nodesv1.NodePool, f stepFacts) stepDecision {
	d, asked := stepDecision{stepFacts: f}, pool.Spec.OnJoin != nil || pool.Spec.OnLeave != nil
	switch {
	case asked && !f.installed:
		d.problem = &problem{nodesv1.ReasonActivityMissing, "no step of spec.onJoin and spec.onLeave starts, because Activity of opcrew is not installed: install opcrew again, or remove the fields"}
	case !pipeline.Starts(f.runs) || nodestate.Frozen(pool) && pool.DeletionTimestamp == nil:
	case pipeline.Requester(pool) == nil:
		d.problem = &problem{common.ReasonRequesterUnknown, "annotation " + common.RequesterAnnotation +
			" is missing, so opcrew cannot check the rights of who set spec.onJoin or spec.onLeave, and starts no step: remove these fields, and set them again"}
	case !f.vouched:
		d.problem = &problem{nodesv1.ReasonPolicyMissing, "the admission policy " + policy +
			" is not in force, so opcrew cannot know who set spec.onJoin or spec.onLeave, and starts no step: install the admission policies of opcrew again"}
	}
	return d
}

// plan adds the Activities of steps that start, cancels those that should end, and deletes old ones.
func (d stepDecision) plan(plan *kit.Plan) {
	if !d.installed {
		return
	}
	if d.problem == nil {
		plan.Children = append(plan.Children, pipeline.Children(d.runs)...)
	} else {
		plan.LookAgain(policyWait)
	}
	for _, r := range d.runs {
		plan.LookAgain(r.Verdict.Again)
	}
	plan.Patches = append(plan.Patches, pipeline.Cancels(d.runs, d.activities)...)
	if stays := pipeline.Stays(d.runs, d.activities); pipeline.Surplus(d.activities, stays) {
		plan.Prune, plan.Stays = append(plan.Prune, &egov1.ActivityList{}), remediation.OrRuns(stays)
	}
}

// dropAll deletes all Activities of the pipelines of a deleted NodePool.
func (d stepDecision) dropAll(plan *kit.Plan) {
	if len(d.activities) > 0 {
		plan.Prune = append(plan.Prune, &egov1.ActivityList{})
	}
}

func indexActivities(mgr ctrl.Manager, tools *kit.Tools) error {
	if !tools.Installed[activitiesCRD] {
		return nil
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &egov1.Activity{}, stepIndex, func(object client.Object) []string {
		return pipeline.IndexKeys(object.(*egov1.Activity))
	})
	if err != nil {
		return fmt.Errorf("index Activities: %w", err)
	}
	return nil
}

// activitiesOf returns the Activities of pipelines with an index key. They belong to the cache and must not be changed.
func activitiesOf(ctx context.Context, tools *kit.Tools, key string) ([]*egov1.Activity, error) {
	all, err := poolActivities(ctx, tools, key)
	return slices.DeleteFunc(all, remediation.IsRun), err
}

// poolActivities returns the Activities of pipelines and of remediations with an index key.
func poolActivities(ctx context.Context, tools *kit.Tools, key string) ([]*egov1.Activity, error) {
	if !tools.Installed[activitiesCRD] {
		return nil, nil
	}
	list := &egov1.ActivityList{}
	if err := tools.Client.List(ctx, list, client.MatchingFields{stepIndex: key}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list Activities of pipelines: %w", err)
	}
	out := make([]*egov1.Activity, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
	}
	return out, nil
}

// watchActivities enqueues what an Activity of a pipeline concerns.
func watchActivities(b *builder.Builder, tools *kit.Tools, concerns func(*egov1.Activity) string) {
	if !tools.Installed[activitiesCRD] {
		return
	}
	b.Watches(&egov1.Activity{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		a := object.(*egov1.Activity)
		if len(pipeline.IndexKeys(a)) == 0 {
			return nil
		}
		return []reconcile.Request{request(concerns(a))}
	}))
}

func nodeOfActivity(a *egov1.Activity) string { return a.Spec.Host }
func poolOfActivity(a *egov1.Activity) string { return a.Labels[pipeline.PoolLabel] }
