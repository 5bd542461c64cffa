// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

func TestStepsThatNeedAPodToBeGoneAreKnown(t *testing.T) {
	forsaken := ring.Ring{GivenUp: redis.Slots{{First: 0, Last: 1}}}
	for name, test := range map[string]struct {
		d    decide.Decision
		want bool
	}{
		"a takeover":            {decide.Decision{Step: redis.Takeover{}}, true},
		"a forced failover":     {decide.Decision{Step: redis.ForceFailover{}}, true},
		"to give up slots":      {decide.Decision{Step: redis.Forget{}, Ring: forsaken}, true},
		"to give them out":      {decide.Decision{Step: redis.AssignSlots{}, Ring: forsaken}, true},
		"to forget a past name": {decide.Decision{Step: redis.Forget{}}, false},
		"the first slots":       {decide.Decision{Step: redis.AssignSlots{}}, false},
	} {
		if got := needsGone(test.d); got != test.want {
			t.Errorf("%s: expected %t", name, test.want)
		}
	}
}
