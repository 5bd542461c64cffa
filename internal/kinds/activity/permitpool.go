// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// poolLabel has the name of the NodePool on an Activity that runs a step of its pipelines (package nodepool).
const poolLabel = claims.PoolLabel

// ofItsPool returns an obstacle if the NodePool to which a step belongs does not exist or has another requester. Without
// this check, a step of a user who no longer decides about the pool could still start.
func (r *reconciler) ofItsPool(ctx context.Context, a *egov1.Activity) (*run.Obstacle, error) {
	name := a.Labels[poolLabel]
	if a.Namespace != run.Namespace || name == "" {
		return nil, nil
	}
	pool := &metav1.PartialObjectMetadata{}
	pool.SetGroupVersionKind(nodesv1.GroupVersion.WithKind("NodePool"))
	if err := r.Live.Get(ctx, types.NamespacedName{Name: name}, pool); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read NodePool %s: %w", name, err)
	}
	if a.Labels[common.OwnerLabel] != string(pool.UID) || !decides(a.Spec.Requester, pool) {
		return &run.Obstacle{Final: true, Reason: egov1.ReasonForbidden,
			Message: "the requester of this run is not the user who decides about the pipelines of NodePool " + name + ", to which the run belongs"}, nil
	}
	return nil, nil
}

// decides reports whether the API server recorded this user as the one who decides what runs on the nodes of a pool.
func decides(who *egov1.Requester, pool *metav1.PartialObjectMetadata) bool {
	recorded := &egov1.Requester{}
	err := json.Unmarshal([]byte(pool.Annotations[common.RequesterAnnotation]), recorded)
	return err == nil && equality.Semantic.DeepEqual(recorded, who)
}
