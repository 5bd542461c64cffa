// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
)

// OtherManager names the field manager, other than this operator, that wrote one of
// the paths last; where none of them has an owner (a field was removed), the one
// that wrote the object last. The name is empty when no one else ever wrote it.
func OtherManager(entries []metav1.ManagedFieldsEntry, paths *fieldpath.Set) string {
	var owner, latest *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Manager == common.Name || entry.Subresource != "" { // a heartbeat is no rival
			continue
		}
		if newer(entry, latest) {
			latest = entry
		}
		if paths != nil && owns(entry, paths) && newer(entry, owner) {
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

func owns(entry *metav1.ManagedFieldsEntry, paths *fieldpath.Set) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return false
	}
	return !set.Intersection(paths).Empty()
}
