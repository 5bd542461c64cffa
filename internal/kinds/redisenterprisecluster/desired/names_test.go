// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestAnAccountIsMadeOnlyWhereTheUserWantsOne(t *testing.T) {
	for spec, want := range map[string]struct {
		name string
		made bool
	}{
		`{}`:                         {"", false},
		`createServiceAccount: true`: {"example", true},
		`serviceAccountName: theirs`: {"theirs", false},
		`{createServiceAccount: true, serviceAccountName: mine}`: {"mine", true},
	} {
		if name, made := ServiceAccount(clustertest.New(clustertest.With(spec))); name != want.name || made != want.made {
			t.Errorf("%s: expected %+v, got %q, %t", spec, want, name, made)
		}
	}
}

func TestTheUsersLabelsStandBackBehindOurs(t *testing.T) {
	c := clustertest.New(clustertest.With(`extraLabels: {app: theirs, team: shop}`))
	if got := Labels(c); got["app"] != "redis-enterprise" || got["team"] != "shop" {
		t.Errorf("expected their own app to be left out and team to be kept, got %v", got)
	}
	if c.Spec.ExtraLabels["app"] != "theirs" {
		t.Error("expected the spec to stay as it is")
	}
}

func TestClientsFindTheClusterAndEachOfItsPods(t *testing.T) {
	golden.Check(t, "endpoints.yaml", Endpoints(clustertest.New(), 3))
}
