// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pooltest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

type NodeOption func(*corev1.Node)

func Node(name string, options ...NodeOption) *corev1.Node {
	n := &corev1.Node{}
	n.Name, n.UID = name, types.UID("uid-of-"+name)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, option := range options {
		option(n)
	}
	return n
}

func HasLabel(key, value string) NodeOption {
	return func(n *corev1.Node) {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[key] = value
	}
}

// Role makes the node a member of a NodePool by its role label, as an administrator would.
func Role(pool string) NodeOption { return HasLabel(nodesv1.RolePrefix+pool, "") }

func HasAnnotation(key, value string) NodeOption {
	return func(n *corev1.Node) {
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[key] = value
	}
}

// HasLedger sets the ledger annotation (the record of what pools have set) as if opcrew had written it.
func HasLedger(text string) NodeOption {
	return func(n *corev1.Node) {
		HasAnnotation(ledgerKey, text)(n)
		WrittenByUs(fieldpath.MakePathOrDie("metadata", "annotations", ledgerKey))(n)
	}
}

func HasTaint(key, value string, effect corev1.TaintEffect) NodeOption {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func LacksLabel(key string) NodeOption { return func(n *corev1.Node) { delete(n.Labels, key) } }

func LacksRole(pool string) NodeOption { return LacksLabel(nodesv1.RolePrefix + pool) }

func IsCordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func IsNotReady(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }

func OffersHandlers(names ...string) NodeOption {
	return func(n *corev1.Node) {
		for _, name := range names {
			n.Status.RuntimeHandlers = append(n.Status.RuntimeHandlers, corev1.NodeRuntimeHandler{Name: name})
		}
	}
}

func HasSize(cpu, memory string) NodeOption {
	return func(n *corev1.Node) {
		n.Status.Allocatable = corev1.ResourceList{"cpu": Quantity(cpu), "memory": Quantity(memory)}
	}
}

// WrittenByUs makes managedFields show that opcrew was the last client to write these fields.
func WrittenByUs(paths ...fieldpath.Path) NodeOption {
	return func(n *corev1.Node) {
		raw, err := fieldpath.NewSet(paths...).ToJSON()
		if err != nil {
			panic(err)
		}
		n.ManagedFields = append(n.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: common.Name, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(string(raw)),
		})
	}
}

func TaintsOf(node *corev1.Node) []string {
	var out []string
	for _, t := range node.Spec.Taints {
		out = append(out, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	return out
}
