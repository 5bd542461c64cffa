// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

func TestAPasswordMatchesItsHashOnly(t *testing.T) {
	long := strings.Repeat("x", maxBcryptBytes)
	bcrypted := func(password string) string {
		return strings.TrimSpace(strings.TrimPrefix(hashed(t, "ada", password), "ada:"))
	}
	for _, test := range []struct {
		name, hash, password string
		want                 bool
	}{
		{"bcrypt 2a", bcrypted("1"), "1", true},
		{"bcrypt 2b", strings.Replace(bcrypted("1"), "$2a$", "$2b$", 1), "1", true},
		{"bcrypt 2y", strings.Replace(bcrypted("1"), "$2a$", "$2y$", 1), "1", true},
		{"bcrypt, wrong", bcrypted("1"), "2", false},
		{"bcrypt, empty", bcrypted("1"), "", false},
		{"bcrypt of nothing", bcrypted(""), "", true},
		{"bcrypt, 72 bytes", bcrypted(long), long, true},
		{"bcrypt, 73 bytes of which 72 are right", bcrypted(long), long + "x", false},
		{"SHA", shaOfOne, "1", true},
		{"SHA, wrong", shaOfOne, "2", false},
		{"SHA, the hash itself", shaOfOne, shaOfOne, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := newLine("ada", test.hash)
			must(t, err)
			if got := l.matches(test.password); got != test.want {
				t.Errorf("matches is %v, expected %v", got, test.want)
			}
		})
	}
}

func TestWasteDoesTheWorkOfARealHash(t *testing.T) {
	err := bcrypt.CompareHashAndPassword([]byte(someHash(4)), []byte("1"))
	if !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		t.Errorf("the decoy is not hashed: %v", err)
	}
	waste(strings.Repeat("x", 100), 1<<4+1<<5)
}

func TestEveryWrongPasswordCostsAsMuchAsTheDearestUser(t *testing.T) {
	lines, _ := parse("ada:" + someHash(5) + "\nada:" + someHash(6) + "\nbob:" + someHash(5) + "\neve:" + shaOfOne)
	set := newCredentials("", lines, nil)
	if want := uint64(1<<5 + 1<<6); set.work != want {
		t.Errorf("the work is %d rounds, expected %d", set.work, want)
	}
	for _, user := range []string{"ada", "bob", "eve", "nobody"} {
		if set.verify(user, "wrong") != nil {
			t.Errorf("%s came in with a wrong password", user)
		}
	}
	if set.verify("eve", "1") == nil {
		t.Error("eve did not come in")
	}
}
