// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

// ours reports whether an object is the child of this owner: opcrew created it for the owner, or it holds data of an
// earlier owner with the same kind and name.
func (in *intent) ours(owner, object client.Object) bool {
	if guard.Owns(owner, object) {
		return true
	}
	left := object.GetAnnotations()[common.KeptForAnnotation]
	return in.child.Keep && left != "" && left == in.object.GetAnnotations()[common.KeptForAnnotation] &&
		object.GetLabels()[common.ManagedByLabel] == common.Name && metav1.GetControllerOf(object) == nil
}

// takenBy returns the message for an object of another owner that has the name of a child.
func takenBy(ref Ref, object client.Object) string {
	whose, remedy := "has no owner", "delete it"
	manager := object.GetLabels()[common.ManagedByLabel]
	switch controller := metav1.GetControllerOf(object); {
	case controller != nil:
		whose = "belongs to " + controller.Kind + " " + controller.Name
	case manager == common.Name:
		whose, remedy = "is left from an object that was deleted without its children", "delete it (a workload with --cascade=orphan, which leaves its pods)"
	case manager != "":
		whose = "belongs to " + manager
	}
	if object.GetDeletionTimestamp() != nil {
		return fmt.Sprintf("%s already exists and %s; that object is being deleted, and opcrew creates its own when it is gone%s", ref, whose, heldBy(object))
	}
	return fmt.Sprintf("%s already exists and %s; opcrew leaves it unchanged. To continue, %s, or give this object another name", ref, whose, remedy)
}

// leaving returns the message for a child that is being deleted.
func leaving(ref Ref, object client.Object) string {
	return ref.String() + " is being deleted; opcrew creates it again when it is gone" + heldBy(object)
}

func heldBy(object client.Object) string {
	if held := object.GetFinalizers(); len(held) > 0 {
		return "; the finalizers " + strings.Join(held, ", ") + " still block the deletion"
	}
	return ""
}

// whyStripped returns the message for a child that lost the label by which the cache selects objects. If the child
// holds data, the message does not suggest deleting it.
func (in *intent) whyStripped() string {
	out := fmt.Sprintf("%s has lost the label %s: %s, without which opcrew cannot observe the object; put the label back", in.Ref, common.ManagedByLabel, common.Name)
	if in.child.Keep {
		return out
	}
	return out + ", or delete the " + in.Kind
}
