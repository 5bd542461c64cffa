// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestWhichResourcesCanBeChangedWhileAPodRuns(t *testing.T) {
	limits := func(pairs ...string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: clustertest.Quantities(pairs)}
	}
	requests := func(pairs ...string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: clustertest.Quantities(pairs)}
	}
	for name, test := range map[string]struct {
		from, to corev1.ResourceRequirements
		want     bool
	}{
		"more":                                  {limits("cpu", "1"), limits("cpu", "2"), true},
		"less":                                  {limits("memory", "2Gi"), limits("memory", "1Gi"), true},
		"a limit where none was":                {requests("cpu", "1"), limits("cpu", "2"), true},
		"something where nothing was asked for": {limits(), requests("memory", "1Gi", "cpu", "1"), true},
		"a limit is taken away":                 {limits("cpu", "1", "memory", "1Gi"), limits("cpu", "1"), false},
		"a limit is taken away, and the request stays":   {limits("cpu", "1"), requests("cpu", "1"), false},
		"something that can only be given at the start":  {limits("cpu", "1"), limits("cpu", "1", "ephemeral-storage", "1Gi"), false},
		"something else that stays":                      {limits("cpu", "1", "ephemeral-storage", "1Gi"), limits("cpu", "2", "ephemeral-storage", "1024Mi"), true},
		"what can only be given at the start is another": {limits("hugepages-2Mi", "2Mi"), limits("hugepages-2Mi", "4Mi"), false},
		"a device is claimed":                            {limits("cpu", "1"), corev1.ResourceRequirements{Limits: clustertest.Quantities([]string{"cpu", "1"}), Claims: []corev1.ResourceClaim{{Name: "disk"}}}, false},
	} {
		if got := InPlace(WithRequests(test.from), WithRequests(test.to)); got != test.want {
			t.Errorf("%s: expected %v, got %v", name, test.want, got)
		}
	}
}
