// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshkeys

import (
	"strings"
	"testing"
)

func TestOnlyADigestInTheLogIsTakenForOne(t *testing.T) {
	digest := Digest(map[string][]byte{"a": []byte("b")})
	line := func(text string) string { return `{"msg":"Serving","digest":"` + text + `"}` + "\n" }
	for log, want := range map[string]string{
		line(digest): digest, line(digest) + line("A b"): digest, line(strings.Repeat("a", 5000)): "", line(`\u001b[31m`): "", "": "",
	} {
		if got := Served(log); got != want {
			t.Errorf("%.80q: expected %q, got %q", log, want, got)
		}
	}
}

func FuzzServed(f *testing.F) {
	f.Add(`{"msg":"Serving","digest":"` + Digest(nil) + `"}` + "\n")
	f.Add(`{"msg":"Serving","digest":"\u0000"}` + "\n[[[[")
	f.Fuzz(func(t *testing.T, log string) {
		if got := Served(log); got != "" && !isDigest(got) {
			t.Errorf("%q has the digest %q", log, got)
		}
	})
}
