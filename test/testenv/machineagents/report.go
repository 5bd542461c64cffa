// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineagents

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// carryOut takes the next step of an order: it refuses the order, requests a drain, fails, or completes the order.
func (a *Agents) carryOut(ctx context.Context, node *corev1.Node, order machineorder.Order, config hostconfig.Config) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	asked := node.Annotations[machineorder.DesiredDrain]
	switch {
	case a.refuses.of(node, config) != "":
		a.report(ctx, node, order, machineorder.PhaseRefused, a.refuses.of(node, config), map[string]string{machineorder.State: machineorder.StateUnreconcilable})
	case order.Drains() && (asked != machineorder.Drain(order.Config) || node.Annotations[machineorder.LastAppliedDrain] != asked):
		a.report(ctx, node, order, machineorder.PhaseDrain, "", map[string]string{
			machineorder.State: machineorder.StateWorking, machineorder.DesiredDrain: machineorder.Drain(order.Config),
		})
	case a.fails.of(node, config) != "":
		a.report(ctx, node, order, machineorder.PhaseFailed, a.fails.of(node, config), map[string]string{machineorder.State: machineorder.StateDegraded})
	default:
		a.complete(ctx, node, order)
	}
}

func (t Trouble) of(node *corev1.Node, config hostconfig.Config) string {
	if t == nil {
		return ""
	}
	return t(node.Name, config)
}

// complete reports that the node has the configuration. After a drain it requests the end of the drain.
func (a *Agents) complete(ctx context.Context, node *corev1.Node, order machineorder.Order) {
	done := map[string]string{machineorder.State: machineorder.StateDone, machineorder.CurrentConfig: order.Config}
	drained := strings.HasPrefix(node.Annotations[machineorder.DesiredDrain], machineorder.DrainPrefix)
	if drained {
		done[machineorder.DesiredDrain] = machineorder.Uncordon(order.Config)
	}
	if a.report(ctx, node, order, machineorder.PhaseDone, "", done) && drained {
		a.drained = append(a.drained, node.Name)
	}
}

// report writes annotations, unless the node has changed meanwhile. It reports whether it wrote them.
func (a *Agents) report(ctx context.Context, node *corev1.Node, order machineorder.Order, phase machineorder.Phase, message string, state map[string]string) bool {
	text, err := machineorder.EncodeReport(machineorder.Report{Config: order.Config, Phase: phase, Message: message})
	if err != nil {
		a.t.Error(err)
	}
	all := map[string]string{machineorder.ReportAnnotation: text}
	maps.Copy(all, state)
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": all, "resourceVersion": node.ResourceVersion}})
	// After a conflict, the next turn of the agent repeats the step.
	return a.client.Patch(ctx, node.DeepCopy(), client.RawPatch(types.MergePatchType, patch)) == nil
}
