// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

func TestACommandOfVeryManySlotsIsStillWhole(t *testing.T) {
	var odd []int
	for n := 1; n < redis.SlotCount; n += 2 {
		odd = append(odd, n)
	}
	got := text(clustertest.New(), redis.SlotsOf(odd...), clustertest.Noon, "")
	if !strings.Contains(got, "redis.opcrew.io/accept-data-loss=1-16383@tj3ao0-") || len(got) > 1024 {
		t.Errorf("expected a command that can be carried out, got %d characters: %s", len(got), got)
	}
}
