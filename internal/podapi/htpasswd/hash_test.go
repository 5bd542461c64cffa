// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package htpasswd

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

const shaOfOne = "{SHA}NWoZK3kTsExUV00Ywo1G5jlUKKs=" // hash of the password "1"

func TestAPasswordMatchesItsHashOnly(t *testing.T) {
	long := strings.Repeat("x", maxBcryptBytes)
	bcrypted := func(password string) string {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		return string(hash)
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
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Matches(test.password); got != test.want {
				t.Errorf("matches is %v, expected %v", got, test.want)
			}
		})
	}
}

func TestWasteDoesTheWorkOfARealHash(t *testing.T) {
	err := bcrypt.CompareHashAndPassword([]byte(someHash(4)), []byte("1"))
	if !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		t.Errorf("the Decoy is not hashed: %v", err)
	}
	Waste(strings.Repeat("x", 100), 1<<4+1<<5)
}
