// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
)

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func setOf(t *testing.T, old *credentials, text string) *credentials {
	t.Helper()
	lines, complaints := htpasswd.Parse(text)
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

func TestAReloadForgetsOnlyRemovedLines(t *testing.T) {
	d := digest{1}
	before := setOf(t, nil, "ada:"+shaOfOne+"\nbob:"+someHash(4))
	before.users["ada"][0].memory.set(d, noon())
	before.users["bob"][0].memory.set(d, noon())
	after := setOf(t, before, "ada:"+shaOfOne+"\nbob:"+someHash(5)+"\neve:"+someHash(4))
	for user, want := range map[string]bool{"ada": true, "bob": false, "eve": false, "mallory": false} {
		if got := after.remembers(user, d, noon()); got != want {
			t.Errorf("%s is remembered: %v, expected %v", user, got, want)
		}
	}
}

func TestEveryWrongPasswordCostsAsMuchAsTheMostExpensiveUser(t *testing.T) {
	lines, _ := htpasswd.Parse("ada:" + someHash(5) + "\nada:" + someHash(6) + "\nbob:" + someHash(5) + "\neve:" + shaOfOne)
	set := newCredentials("", lines, nil)
	if want := uint64(1<<5 + 1<<6); set.work != want {
		t.Errorf("the work is %d rounds, expected %d", set.work, want)
	}
	for _, user := range []string{"ada", "bob", "eve", "mallory"} {
		if set.verify(user, "wrong") != nil {
			t.Errorf("%s was admitted with a wrong password", user)
		}
	}
	if set.verify("eve", "1") == nil {
		t.Error("eve was refused")
	}
}

// someHash returns a well-formed bcrypt hash with a given cost.
func someHash(cost int) string { return fmt.Sprintf("$2y$%02d$%s", cost, htpasswd.Decoy) }
