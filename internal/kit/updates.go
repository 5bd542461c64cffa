// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Updates returns a predicate that passes every event except updates that do not matter. An object that was deleted and
// created again while a watch was broken is delivered as an update (client-go, DeltaFIFO.Replace). It has another UID,
// and always passes.
func Updates(matters func(event.UpdateEvent) bool) predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || matters(e)
	}}
}
