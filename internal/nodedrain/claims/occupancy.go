// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// Occupancy passes the events of Activities that change which nodes are occupied.
func Occupancy() predicate.Predicate {
	host := func(object client.Object) string { return Host(object.(*egov1.Activity)) }
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return host(e.Object) != "" },
		UpdateFunc:  func(e event.UpdateEvent) bool { return host(e.ObjectOld) != host(e.ObjectNew) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return host(e.Object) != "" },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
