// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// reconciler runs a pod for a Node when the machine agent must be installed on its host, or removed from it.
type reconciler struct {
	*kit.Tools
	authority authority
}

// Observe reads the pools and the pods from the cache.
func (r *reconciler) Observe(ctx context.Context, _ *corev1.Node) (facts, error) {
	pools, pods := &mcfgv1.MachineConfigPoolList{}, &corev1.PodList{}
	if err := r.Client.List(ctx, pools, client.UnsafeDisableDeepCopy); err != nil {
		return facts{}, fmt.Errorf("list MachineConfigPools: %w", err)
	}
	if err := r.Client.List(ctx, pods, client.InNamespace(machineorder.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return facts{}, fmt.Errorf("list the pods that install machine agents: %w", err)
	}
	ca, err := r.authority.fingerprint()
	from := origin{image: r.AgentImage, ca: ca, pinned: r.authority.isThatOfPods()}
	return facts{pools: pointers(pools.Items), pods: pointers(pods.Items), origin: from}, err
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

// Decide decides what to do on the host.
func (r *reconciler) Decide(node *corev1.Node, f facts, _ time.Time) decision { return decide(node, f) }

// Plan declares the pod, and records its result on the Node. The pod is deleted when its result is recorded.
func (r *reconciler) Plan(node *corev1.Node, f facts, d decision) kit.Plan {
	plan := kit.Plan{Again: d.again, Prune: []client.ObjectList{&corev1.PodList{}}}
	if d.task != "" {
		child := ensure.Child{Object: pod(node, d.task, f.origin), Once: true, Security: guard.HostCommand, Trust: guard.Trust{All: true}}
		plan.Children = []ensure.Child{child}
	}
	if patch, needed := edit(d).Patch(node); needed {
		plan.Patches, plan.Events = []kit.Patch{patch}, events(d)
	}
	return plan
}

// edit returns the change of the Node. Without an agent, its reports say nothing any more.
func edit(d decision) *nodepatch.Edit {
	out := &nodepatch.Edit{}
	if d.agent != "" {
		out.Annotate(nodepatch.AgentAnnotation, d.agent)
	}
	if d.removed {
		for _, name := range nodepatch.Protocol() {
			out.Annotate(name, "")
		}
	}
	return out
}

func events(d decision) []kit.Event {
	switch {
	case d.task == install:
		return []kit.Event{{Reason: "AgentInstalled", Action: "Install", Note: "The machine agent is installed on the host"}}
	case d.removed:
		return []kit.Event{{Reason: "AgentRemoved", Action: "Uninstall", Note: "The host is restored, and the machine agent is removed from it"}}
	}
	return nil
}

// Report does nothing: opcrew does not write the status of nodes.
func (r *reconciler) Report(*corev1.Node, facts, decision, kit.Outcome) {}
