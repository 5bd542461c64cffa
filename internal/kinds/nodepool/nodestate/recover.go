// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"bytes"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// recoverLedger reconstructs the ledger annotation from the fields that opcrew owns in managedFields. The API treats
// all taints as one field, so reclaimTaints handles them separately.
func recoverLedger(node *corev1.Node) Ledger {
	l := Ledger{Items: map[Item]entry{}}
	owned := ownedFields(node)
	if owned == nil {
		return l
	}
	for key, value := range node.Labels {
		if owned.Has(fieldpath.MakePathOrDie("metadata", "labels", key)) {
			l.Items[labelItem(key)] = entry{Value: value}
		}
	}
	for key, value := range node.Annotations {
		if !ofMachineConfig(key) && key != LedgerAnnotation && owned.Has(fieldpath.MakePathOrDie("metadata", "annotations", key)) {
			l.Items[annotationItem(key)] = entry{Value: value}
		}
	}
	// If opcrew owns no other field, the ledger annotation was not lost, but removed with the last pool.
	l.taintsWritten = len(l.Items) > 0 && owned.Has(fieldpath.MakePathOrDie("spec", "taints"))
	return l
}

// ofMachineConfig reports whether an annotation may belong to MachineConfig, which opcrew writes under the same field
// manager. If NodePool took it for its own, it would remove the order and the cordon of a node that is being updated.
func ofMachineConfig(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return domain == "opcrew.io" || domain == mcfgv1.GroupVersion.Group
}

// reclaimTaints adds to a recovered ledger the taints that are equal to a taint of one of the node's pools. All other
// taints may belong to another owner, such as an autoscaler, and stay unchanged.
func (l Ledger) reclaimTaints(node *corev1.Node, pools []*nodesv1.NodePool) {
	if !l.taintsWritten {
		return
	}
	for _, pool := range pools {
		if !Belongs(pool, node, l) {
			continue
		}
		for _, t := range pool.Spec.Taints {
			i := taintItem(t.Key, t.Effect)
			if found, ok := valueOn(node, i); ok && found == t.Value {
				l.Items[i] = entry{Value: found}
			}
		}
	}
}

// ownedFields returns the fields that opcrew was the last client to write, according to managedFields; nil if there are
// none. A client that has no right to change a field cannot appear in managedFields as the writer of this field.
func ownedFields(node *corev1.Node) *fieldpath.Set {
	for _, e := range node.ManagedFields {
		if !ownEntry(e) {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(e.FieldsV1.GetRawReader()); err == nil {
			return set
		}
	}
	return nil
}

// wroteLedger reports whether opcrew was the last client to write the ledger annotation. It does not decode
// managedFields, because it is called for every node in every reconcile.
func wroteLedger(node *corev1.Node) bool {
	for _, e := range node.ManagedFields {
		if ownEntry(e) && bytes.Contains(e.FieldsV1.GetRawBytes(), []byte(`"f:`+LedgerAnnotation+`"`)) {
			return true
		}
	}
	return false
}

func ownEntry(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == common.Name && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == "" && e.FieldsV1 != nil
}
