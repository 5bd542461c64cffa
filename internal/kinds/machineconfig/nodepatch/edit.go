// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepatch

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Edit is a set of changes of a Node. The zero Edit changes nothing.
type Edit struct {
	annotations map[string]string
	cordon      *bool
	taints      map[corev1.Taint]bool
}

// Annotate sets an annotation; an empty value removes it.
func (e *Edit) Annotate(name, value string) {
	if e.annotations == nil {
		e.annotations = map[string]string{}
	}
	e.annotations[name] = value
}

// Cordon makes the node unschedulable, and records that opcrew did it, and when.
func (e *Edit) Cordon(now time.Time) {
	e.cordon = new(true)
	e.Annotate(CordonAnnotation, format(now))
}

// Uncordon makes the node schedulable. It removes the record that opcrew cordoned it.
func (e *Edit) Uncordon() {
	e.cordon = new(false)
	e.Annotate(CordonAnnotation, "")
}

// Taint adds a taint, or removes it.
func (e *Edit) Taint(taint corev1.Taint, wanted bool) {
	if e.taints == nil {
		e.taints = map[corev1.Taint]bool{}
	}
	e.taints[taint] = wanted
}

// missing returns the names of annotations that differ on the node.
func (e *Edit) missing(node *corev1.Node) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e.annotations)) {
		if node.Annotations[name] != e.annotations[name] {
			out = append(out, name)
		}
	}
	return out
}

// tainted returns the taints of the node after the edit, and whether they differ.
func (e *Edit) tainted(node *corev1.Node) ([]corev1.Taint, bool) {
	out, changed := slices.Clone(node.Spec.Taints), false
	for _, taint := range []corev1.Taint{Updating, Startup} {
		wanted, decided := e.taints[taint]
		at := indexOf(out, taint)
		if !decided || wanted == (at >= 0) {
			continue
		}
		changed = true
		if wanted {
			out = append(out, taint)
		} else {
			out = slices.Delete(out, at, at+1)
		}
	}
	return out, changed
}

// cordons reports whether the edit changes whether the node is schedulable.
func (e *Edit) cordons(node *corev1.Node) bool {
	return e.cordon != nil && *e.cordon != node.Spec.Unschedulable
}
