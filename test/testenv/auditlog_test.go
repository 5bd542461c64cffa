// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import "testing"

func TestACallWithoutARightIsDistinguishedFromOneThatAdmissionRefuses(t *testing.T) {
	for decision, want := range map[string]bool{"forbid": true, "allow": false} {
		call, err := parseCall([]byte(`{"verb":"create","responseStatus":{"code":403},"annotations":{"authorization.k8s.io/decision":"` + decision + `"}}`))
		if err != nil || call.Forbidden != want {
			t.Errorf("decision %s: expected Forbidden to be %v, got %v (%v)", decision, want, call.Forbidden, err)
		}
	}
}
