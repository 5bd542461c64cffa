// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Updates returns a predicate that passes all events except updates that do not matter. If an object is deleted and
// created again while a watch is interrupted, client-go delivers an update with another UID (DeltaFIFO.Replace). Such
// an update always passes.
func Updates(matters func(event.UpdateEvent) bool) predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || matters(e)
	}}
}
