// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"reflect"
	"testing"
)

func TestAnotherDefaultImageIsTakenWhereTheSpecAllowsIt(t *testing.T) {
	for spec, taken := range map[string]bool{
		`{}`: false,
		`upgradeSpec: {autoUpgradeRedisEnterprise: false}`: false,
		`upgradeSpec: {autoUpgradeRedisEnterprise: true}`:  true,
	} {
		c := newCluster(with(spec))
		var of [2]wishes
		for i, image := range []string{"valkey:8.1", "valkey:9.1"} {
			r, err := read(c, images{redis: image, helper: "helper"})
			if err != nil {
				t.Fatal(err)
			}
			of[i] = r.wishes(c)
		}
		if changed := !reflect.DeepEqual(of[0], of[1]); changed != taken {
			t.Errorf("%s: expected that a newer default image makes pods anew: %t, got %t", spec, taken, changed)
		}
	}
}
