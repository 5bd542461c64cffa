// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Updates passes every event of an object but updates that do not matter, which matters tells. An object that was
// deleted and recreated while a watch was broken comes as an update too (client-go, DeltaFIFO.Replace): it is
// another one, and always passes.
func Updates(matters func(event.UpdateEvent) bool) predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || matters(e)
	}}
}

// SpecUpdates passes updates of the spec. Each new object begins with generation 1.
func SpecUpdates() predicate.Funcs {
	return Updates(func(e event.UpdateEvent) bool { return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() })
}
