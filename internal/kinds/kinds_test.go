// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kinds

import "testing"

func TestAReplacementTakesThePlaceOfTheKindWithItsName(t *testing.T) {
	other := All()[5]
	other.CRDs = []string{"replaced"}
	for i, kind := range All(other) {
		if want := All()[i].Name; kind.Name != want || (kind.CRDs[0] == "replaced") != (kind.Name == other.Name) {
			t.Errorf("expected %s in place %d, and only %s to be replaced, got %+v", want, i, other.Name, kind)
		}
	}
}
