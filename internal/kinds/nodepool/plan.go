// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/firewall"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// finalizer keeps a deleted NodePool until opcrew has removed its settings from every node.
const finalizer = "opcrew.io/nodepool"

// policyWait is the time between two looks at an admission policy that is missing, whose creation causes no event.
const policyWait = time.Minute

// decision holds what is decided about a NodePool.
type decision struct {
	conflicts []nodesv1.Conflict
	config    configDecision
	steps     stepDecision
	remedies  remediation.Decision
	firewall  *firewall.Judgement // nil if the pool has no firewall
}

// Decide returns the conflicts of the NodePool with other owners, and what becomes of its MachineConfigPool and of the
// pipelines on its nodes.
func (r *poolReconciler) Decide(pool *nodesv1.NodePool, f facts, now time.Time) decision {
	return decision{
		conflicts: conflictsOf(pool.Name, f.nodes), config: decideConfig(pool, f.config), steps: decideSteps(pool, f.steps),
		remedies: decideRemedies(pool, f, now), firewall: decideFirewall(pool, f),
	}
}

// Plan declares the RuntimeClass and the MachineConfigPool of a NodePool. If the NodePool is being deleted and its
// settings are no longer on any node, Plan removes the finalizer. nodeReconciler plans the changes of nodes.
func (r *poolReconciler) Plan(pool *nodesv1.NodePool, f facts, d decision) kit.Plan {
	var plan kit.Plan
	if d.config.dropped {
		plan.Prune = []client.ObjectList{&mcfgv1.MachineConfigPoolList{}}
	}
	if pool.DeletionTimestamp != nil {
		if len(f.nodes) == 0 && f.held == 0 && f.firewall.Held(pool.Name) == 0 {
			d.steps.dropAll(&plan)
			f.remedies.DropAll(&plan)
			plan.Release = finalizer
			return plan
		}
		d.steps.plan(&plan)
		return plan
	}
	plan.Hold = nodestate.DryRun(pool)
	plan.Finalizer = finalizer
	plan.Children = append([]ensure.Child{{
		Object:    runtimeClass(pool, selectorLabels(pool, d.conflicts), tolerations(pool, f.nodes)),
		ReplaceOn: []string{"handler"},
	}}, d.config.children(pool)...)
	d.steps.plan(&plan)
	d.remedies.Plan(&plan)
	plan.LookAgain(f.machines.Again)
	if p := d.config.problem; p != nil && p.reason == nodesv1.ReasonPolicyMissing {
		plan.LookAgain(policyWait)
	}
	return plan
}

// selectorLabels returns the node selector of the RuntimeClass: the role label and the labels of the NodePool. It
// leaves out labels whose value is in conflict, because pods of the pool could not run on members that lack the label.
func selectorLabels(pool *nodesv1.NodePool, conflicts []nodesv1.Conflict) map[string]string {
	labels := map[string]string{}
	for key, value := range pool.Spec.Labels {
		labels[key] = string(value)
	}
	for _, c := range conflicts {
		if c.Kind == nodesv1.ConflictLabel {
			delete(labels, c.Key)
		}
	}
	labels[pool.RoleLabel()] = ""
	return labels
}

// tolerations returns tolerations for the taints of the NodePool, and for taints that other pools set on shared nodes.
// NoExecute taints are tolerated with any value: running pods keep their old tolerations, and a new value would evict
// them.
func tolerations(pool *nodesv1.NodePool, members []*member) []corev1.Toleration {
	var out []corev1.Toleration
	add := func(t corev1.Taint) {
		toleration := corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect}
		if t.Effect == corev1.TaintEffectNoExecute {
			toleration.Operator, toleration.Value = corev1.TolerationOpExists, ""
		}
		if !slices.Contains(out, toleration) {
			out = append(out, toleration)
		}
	}
	for _, t := range pool.Spec.Taints {
		add(corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	own := len(out)
	for _, m := range members {
		if !m.belongs {
			continue
		}
		for i, e := range m.desired.Items {
			if i.Kind == nodesv1.ConflictTaint {
				add(i.Taint(e.Value))
			}
		}
	}
	slices.SortFunc(out[own:], func(a, b corev1.Toleration) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Value, b.Value))
	})
	return out
}
