// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	mcfgv1ac "github.com/opcrew/opcrew/applyconfigurations/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// policy is the name of the admission policy about spec.machineConfigSelector, and of its binding:
// config/cluster/nodepool_rights.yaml.
const policy = "opcrew-nodepool-rights"

// configDecision holds what is decided about the MachineConfigPool of a NodePool.
type configDecision struct {
	// declared is set if the MachineConfigPool should exist, and dropped if it should be deleted. If neither is set, it
	// stays as it is.
	declared, dropped bool
	// problem is why the MachineConfigPool is not declared, although the user set the field; nil if nothing is wrong.
	problem *problem
}

type problem struct{ reason, message string }

// decideConfig decides about the MachineConfigPool of a NodePool. Its recorded requester decides what runs as root on
// the nodes, so it is written only if the API server has recorded that user.
func decideConfig(pool *nodesv1.NodePool, f configFacts) configDecision {
	asked := pool.Spec.MachineConfigSelector != nil
	switch leaves := "; MachineConfigPool " + pool.Name + " stays as it is"; {
	case pool.DeletionTimestamp != nil:
		return configDecision{dropped: f.installed && !slices.Contains(pool.Finalizers, metav1.FinalizerOrphanDependents)}
	case !asked:
		return configDecision{dropped: f.installed}
	case !f.installed:
		return configDecision{problem: &problem{nodesv1.ReasonMachineConfigMissing,
			"spec.machineConfigSelector has no effect, because MachineConfig of opcrew is not installed: run make install-machineconfig, or remove the field"}}
	case pool.Annotations[common.RequesterAnnotation] == "":
		return configDecision{problem: &problem{common.ReasonRequesterUnknown, "annotation " + common.RequesterAnnotation +
			" is missing, so opcrew cannot check the rights of who set spec.machineConfigSelector: remove the field, and set it again" + leaves}}
	case !f.vouched && !asRequested(pool, f.pool):
		return configDecision{problem: &problem{nodesv1.ReasonPolicyMissing, "the admission policy " + policy +
			" is not in force, so opcrew cannot know who set spec.machineConfigSelector: install the admission policies of opcrew again" + leaves}}
	}
	return configDecision{declared: true}
}

// children returns the MachineConfigPool, if it should exist.
func (d configDecision) children(pool *nodesv1.NodePool) []ensure.Child {
	if !d.declared {
		return nil
	}
	return []ensure.Child{{Object: machineConfigPool(pool), Whole: []string{"spec.machineConfigSelector", "spec.nodeSelector"}}}
}

// machineConfigPool declares the MachineConfigPool of a NodePool. All other fields of it belong to users. Its requester
// is that of the NodePool, so that the checks of rights are about this user, and not about the operator.
func machineConfigPool(pool *nodesv1.NodePool) *mcfgv1ac.MachineConfigPoolApplyConfiguration {
	return mcfgv1ac.MachineConfigPool(pool.Name).
		WithLabels(map[string]string{
			"app.kubernetes.io/name":     "nodepool",
			"app.kubernetes.io/instance": pool.Name,
			"app.kubernetes.io/part-of":  "opcrew",
		}).
		WithAnnotations(map[string]string{common.RequesterAnnotation: pool.Annotations[common.RequesterAnnotation]}).
		WithSpec(mcfgv1ac.MachineConfigPoolSpec().
			WithMachineConfigSelector(selectorOf(pool.Spec.MachineConfigSelector)).
			WithNodeSelector(selectorOf(nodesOfRole(pool))))
}

// nodesOfRole selects the nodes with the role label, which every member has and which no kubelet can set.
func nodesOfRole(pool *nodesv1.NodePool) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{pool.RoleLabel(): ""}}
}

func selectorOf(s *metav1.LabelSelector) *metav1ac.LabelSelectorApplyConfiguration {
	out := metav1ac.LabelSelector().WithMatchLabels(s.MatchLabels)
	for _, e := range s.MatchExpressions {
		out.WithMatchExpressions(metav1ac.LabelSelectorRequirement().WithKey(e.Key).WithOperator(e.Operator).WithValues(e.Values...))
	}
	return out
}

// asRequested reports whether a MachineConfigPool already has what the requester of the NodePool decided.
func asRequested(pool *nodesv1.NodePool, found *mcfgv1.MachineConfigPool) bool {
	return found != nil && metav1.IsControlledBy(found, pool) &&
		found.Annotations[common.RequesterAnnotation] == pool.Annotations[common.RequesterAnnotation] &&
		equality.Semantic.DeepEqual(found.Spec.MachineConfigSelector, pool.Spec.MachineConfigSelector) &&
		equality.Semantic.DeepEqual(found.Spec.NodeSelector, nodesOfRole(pool))
}
