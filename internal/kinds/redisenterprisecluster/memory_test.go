// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestAClusterIsKnownSinceItWasFirstSeen(t *testing.T) {
	key, m := types.NamespacedName{Namespace: "shop", Name: "rec"}, &memory{}
	since := func(uid types.UID, now time.Time) time.Time {
		m.isAnother(key, uid)
		return m.recall(key, now, func(map[string]string) bool { return true }).since
	}
	later := noon.Add(time.Minute)
	if first, again := since("one", noon), since("one", later); first != noon || again != noon {
		t.Errorf("expected it to be known since noon, got %s and %s", first, again)
	}
	if other := since("another", later); other != later {
		t.Errorf("expected another of its name to be known since it was seen, got %s", other)
	}
}
