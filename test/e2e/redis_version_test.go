// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

func TestTheVersionOfARedisClusterChangesWithoutClientsNoticing(t *testing.T) {
	for name, to := range map[string]struct{ recipe, repository, tag string }{
		"to Redis 8.0":  {"redis8", "opcrew/redis", "8.0"},
		"to Valkey 8.1": {"valkey", "opcrew/valkey", "8.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRedisTest(t, persistentRedis)
			if image := to.repository + ":" + to.tag; !r.holds(t, image) {
				r.debian(t, to.recipe)
			}
			o, w := r.observe(t), r.plain(t)
			r.patch(t, `{"redisEnterpriseImageSpec":{"repository":"`+to.repository+`","versionTag":"`+to.tag+`"}}`)
			c := r.await(t, 3)
			if r.wantRing(t, c, 3); !strings.Contains(c.Status.Version, to.tag) {
				t.Errorf("expected version %s, got %s", to.tag, c.Status.Version)
			}
			w.wantAll(t)
			w.wantNoErrors(t)
			o.wantOneLeader(t)
		})
	}
}
