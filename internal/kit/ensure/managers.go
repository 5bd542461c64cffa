// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
)

// Rival returns the name of another manager that changed some fields of an object, for messages.
func (a *Applier) Rival(ctx context.Context, object client.Object, fields *fieldpath.Set) string {
	current := object.DeepCopyObject().(client.Object)
	if err := a.Live.Get(ctx, client.ObjectKeyFromObject(current), current); err != nil {
		return inWords("")
	}
	return inWords(otherManager(current.GetManagedFields(), fields))
}

// inWords formats the name of a manager for messages. The name is empty if the managed fields do not show it.
func inWords(manager string) string {
	if manager == "" {
		return "another manager"
	}
	return strconv.Quote(manager)
}

// otherManager returns the last field manager, other than opcrew, that wrote one of the paths. A removed field has no
// manager. In that case it returns the last manager that wrote the object; "" if there is none.
func otherManager(entries []metav1.ManagedFieldsEntry, paths *fieldpath.Set) string {
	var owner, latest *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Manager == common.Name || entry.Subresource != "" { // opcrew's own writes and status writes do not count
			continue
		}
		if newer(entry, latest) {
			latest = entry
		}
		if paths != nil && hasAny(entry, paths) && newer(entry, owner) {
			owner = entry
		}
	}
	switch {
	case owner != nil:
		return owner.Manager
	case latest != nil:
		return latest.Manager
	}
	return ""
}

func newer(entry, than *metav1.ManagedFieldsEntry) bool {
	return than == nil || than.Time == nil || (entry.Time != nil && than.Time.Before(entry.Time))
}

func hasAny(entry *metav1.ManagedFieldsEntry, paths *fieldpath.Set) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return false
	}
	return !set.Intersection(paths).Empty()
}
