// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"
	"time"
)

func TestAnAgeIsReadAndWhatIsNoneIsZero(t *testing.T) {
	for age, want := range map[Age]time.Duration{
		"720h": 720 * time.Hour, "90d": 90 * 24 * time.Hour, "87600h": 87600 * time.Hour, "1h": time.Hour,
		"": 0, "d": 0, "5": 0, "-1d": 0, "1m": 0, "1h30m": 0, "1.5h": 0, "99999999h": 0, "h90": 0,
	} {
		if got := age.Duration(); got != want {
			t.Errorf("%q: expected %s, got %s", age, want, got)
		}
	}
}
