// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"testing"
	"time"
)

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func setOf(t *testing.T, old *credentials, text string) *credentials {
	t.Helper()
	lines, complaints := parse(text)
	if len(complaints) > 0 {
		t.Fatalf("complaints: %v", complaints)
	}
	return newCredentials("", lines, old)
}

func TestAPasswordIsRememberedWhileItIsUsed(t *testing.T) {
	set, known, other := setOf(t, nil, "ada:"+shaOfOne), digest{1}, digest{2}
	expect := func(d digest, after time.Duration, want bool) {
		t.Helper()
		if got := set.remembers("ada", d, noon().Add(after)); got != want {
			t.Errorf("after %s, remembered is %v, expected %v", after, got, want)
		}
	}
	expect(known, 0, false)
	set.users["ada"][0].memory.set(known, noon())
	expect(known, 0, true)
	expect(other, 0, false)
	expect(known, memoryLife, true)
	expect(known, 2*memoryLife, true)
	expect(known, 3*memoryLife+time.Second, false)
	expect(known, 2*memoryLife-time.Hour, true)
}

func TestAReloadForgetsOnlyTheLinesThatWent(t *testing.T) {
	d := digest{1}
	before := setOf(t, nil, "ada:"+shaOfOne+"\nbob:"+someHash(4))
	before.users["ada"][0].memory.set(d, noon())
	before.users["bob"][0].memory.set(d, noon())
	after := setOf(t, before, "ada:"+shaOfOne+"\nbob:"+someHash(5)+"\neve:"+someHash(4))
	for user, want := range map[string]bool{"ada": true, "bob": false, "eve": false, "nobody": false} {
		if got := after.remembers(user, d, noon()); got != want {
			t.Errorf("%s is remembered: %v, expected %v", user, got, want)
		}
	}
}
