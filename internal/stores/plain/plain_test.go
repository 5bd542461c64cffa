// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestALineHasNoControlCharactersAndNoHalfCharacter(t *testing.T) {
	for text, want := range map[string]string{
		"ERR no\r\nsuch key": "ERR no  such", "\x1b[31mred": " [31mred", "a\xffb": "ab", "aaaaaaaaaaaü": "aaaaaaaaaaa", "": "",
	} {
		if got := Line(text, 12); got != want {
			t.Errorf("%q: expected %q, got %q", text, want, got)
		}
	}
}

func TestAWordHasPrintableCharactersOnly(t *testing.T) {
	for text, want := range map[string]bool{"aaa": true, "": true, "a b": false, "a\x00": false, "ü": false, "aaaaa": false} {
		if got := Words(text, 4); got != want {
			t.Errorf("%q: expected %t", text, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("ERR \x1b[31m\xff\r\n", 7)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = min(max(most, 0), 1000)
		if got := Line(text, most); len(got) > most || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\x1b\x00") {
			t.Errorf("%q is shortened to %q", text, got)
		}
	})
}
