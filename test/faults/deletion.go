// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// withDeletion adds a last step to a workload that deletes all objects of the kind.
func withDeletion(s *Subject, w Workload, kind string) Workload {
	w.Steps = append(slices.Clone(w.Steps), Step{
		Name: "delete every " + kind,
		Do: func(u *User) {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(u.kind(s.Primary, "List"))
			must(u.client.List(u.ctx, list, u.everywhere()))
			for i := range list.Items {
				u.Delete(list.Items[i].GetName(), &list.Items[i])
			}
		},
		Until: func(v View) error {
			if left := v.Objects(kind); len(left) > 0 {
				return fmt.Errorf("%s still exists", keyOf(left[0]))
			}
			return nil
		},
	})
	return w
}
