// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// cordonIndex is the cache index that finds the nodes which a fleet has cordoned.
const cordonIndex = "fleet-cordon"

func indexCordons(mgr ctrl.Manager) error {
	return mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Node{}, cordonIndex, func(object client.Object) []string {
		if cordon := claims.CordonOf(object.(*corev1.Node)); cordon != nil {
			return []string{string(cordon.UID)}
		}
		return nil
	})
}

// cordonedBy reads the nodes that have the record of a fleet's cordon. They belong to the cache.
func (r fleets) cordonedBy(ctx context.Context, a *egov1.Activity, out *fleetFacts) error {
	list := &corev1.NodeList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{cordonIndex: string(a.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list cordoned nodes: %w", err)
	}
	for i := range list.Items {
		out.cordoned = append(out.cordoned, &list.Items[i])
		r.markUnseen(&list.Items[i], out)
	}
	return nil
}

const annotations = "/metadata/annotations"

func pointer(annotation string) string {
	return jsonpatch.Pointer("metadata", "annotations", annotation)
}

// cordonNode returns the patch that cordons a node and records it. It fails if the node was cordoned meanwhile, or got
// an order of MachineConfig.
func cordonNode(a *egov1.Activity, node *corev1.Node, now time.Time) kit.Patch {
	record := claims.Cordon{Namespace: a.Namespace, Name: a.Name, UID: a.UID, Run: run.Number(a), At: now}
	ops := unchanged(node)
	if len(node.Annotations) == 0 {
		ops = append(ops, jsonpatch.Add(annotations, map[string]string{}))
	}
	ops = append(ops, jsonpatch.Add(pointer(claims.FleetCordon), record.String()), jsonpatch.Add("/spec/unschedulable", true))
	return nodePatch(node, ops, "cordon "+string(a.UID))
}

// uncordonNode returns the patch that uncordons a node and removes the record. If a user has uncordoned the node, only
// the record is removed.
func uncordonNode(a *egov1.Activity, node *corev1.Node) kit.Patch {
	ops := append(unchanged(node), jsonpatch.Remove(pointer(claims.FleetCordon)))
	if node.Spec.Unschedulable {
		ops = append(ops, jsonpatch.Add("/spec/unschedulable", false))
	}
	return nodePatch(node, ops, "uncordon "+string(a.UID))
}

// unchanged returns operations that make a patch fail unless the node is as it was when the decision was made.
func unchanged(node *corev1.Node) jsonpatch.Patch {
	cordoned := node.Spec.Unschedulable
	out := jsonpatch.Patch{jsonpatch.Test("/metadata/uid", string(node.UID)), jsonpatch.Unchanged("/spec/unschedulable", true, cordoned)}
	if len(node.Annotations) == 0 {
		return append(out, jsonpatch.Absent(annotations))
	}
	for _, name := range append(claims.MachineAnnotations(), claims.FleetCordon) {
		value, found := node.Annotations[name]
		out = append(out, jsonpatch.Unchanged(pointer(name), value, found))
	}
	return out
}

func nodePatch(node *corev1.Node, ops jsonpatch.Patch, intent string) kit.Patch {
	fields := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", claims.FleetCordon), fieldpath.MakePathOrDie("spec", "unschedulable"))
	return kit.Patch{Object: node, Type: types.JSONPatchType, Data: ops.Encode(), Intent: intent, Fields: fields}
}

// releases returns the patches that uncordon the nodes which a fleet has cordoned and does not keep. A node that a user
// uncordoned, and that is not cordoned once more, loses the record.
func releases(a *egov1.Activity, f fleetFacts, v fleet.Verdict) []kit.Patch {
	var out []kit.Patch
	for _, node := range f.cordoned {
		if f.unseen[node.Name] {
			continue
		}
		var h *fleet.Host
		if i := slices.IndexFunc(f.hosts, func(h fleet.Host) bool { return h.Name == node.Name }); i >= 0 {
			h = &f.hosts[i]
		}
		drains := h != nil && h.Draining()
		if !fleet.KeepsCordon(a, node, h, v, f.children) || !node.Spec.Unschedulable && !drains {
			out = append(out, uncordonNode(a, node))
		}
	}
	return out
}
