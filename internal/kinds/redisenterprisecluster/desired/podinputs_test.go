// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"reflect"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
)

func TestAnotherDefaultImageIsTakenWhereTheSpecAllowsIt(t *testing.T) {
	for spec, taken := range map[string]bool{
		`{}`: false,
		`upgradeSpec: {autoUpgradeRedisEnterprise: false}`: false,
		`upgradeSpec: {autoUpgradeRedisEnterprise: true}`:  true,
	} {
		c := clustertest.New(clustertest.With(spec))
		var of [2]PodInputs
		for i, image := range []string{"valkey:8.1", "valkey:9.1"} {
			r, err := Read(c, Images{Redis: image, Agent: "agent"})
			if err != nil {
				t.Fatal(err)
			}
			of[i] = r.PodInputs(c)
		}
		if changed := !reflect.DeepEqual(of[0], of[1]); changed != taken {
			t.Errorf("%s: expected that a newer default image replaces pods: %t, got %t", spec, taken, changed)
		}
	}
}
