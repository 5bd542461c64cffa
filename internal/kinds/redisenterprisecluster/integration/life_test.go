// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A cluster of three takes two Secrets, two Services, a ConfigMap, a budget, a StatefulSet, and some statuses.
func TestFromCreationToReadyTheWritesAreCounted(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			env.Settled(t, env.Audit.Mark(t))
			mark := env.Audit.Mark(t)
			s.create(options...)
			s.awaitWhole()
			writes := env.Settled(t, mark).Writes()
			got := maps.Clone(writes.Tally())
			want := map[string]int{
				"patch secrets": 2, "patch services": 2, "patch configmaps": 1, "patch poddisruptionbudgets": 1, "patch statefulsets": 1,
				"patch redisenterpriseclusters/status": 2,
			}
			t.Logf("writes: %v", got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("not the writes that it takes (-expected +found):\n%s\n%s", diff, writes)
			}
		})
	}
}

func TestASecondLookAndARestartWriteNothingAndAtRestThereIsNoCall(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	done := env.Settled(t, mark)
	t.Logf("a restart: %v", done.Tally())
	if writes := done.Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}
	env.Rests(t)
}
