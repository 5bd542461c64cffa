// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import "testing"

func TestATagNamesARegistryByTheRuleOfTheContainerTools(t *testing.T) {
	for tag, want := range map[string]bool{
		"opcrew/opcrew:dev":             false,
		"opcrew:dev":                    false,
		"example.com/opcrew/opcrew:dev": true,
		"localhost/opcrew:dev":          true,
		"registry:5000/opcrew:dev":      true,
	} {
		if got := HasRegistry(tag); got != want {
			t.Errorf("HasRegistry(%q) = %v, want %v", tag, got, want)
		}
	}
}
