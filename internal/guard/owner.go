// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// Owns reports whether opcrew created object for owner. It compares the controller reference of object with the UID of
// owner. If object has no such reference, because it was removed, Owns compares the owner label.
func Owns(owner, object client.Object) bool {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return controller.UID == owner.GetUID()
	}
	return object.GetLabels()[common.OwnerLabel] == string(owner.GetUID())
}
