// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tail

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestATailIsTheEndOfTheOutput(t *testing.T) {
	for _, test := range []struct {
		name   string
		chunks []string
		want   string
		cut    bool
	}{
		{"nothing", nil, "", false},
		{"less than fits", []string{"ab", "c"}, "abc", false},
		{"just what fits", []string{"abcd", "efgh"}, "abcdefgh", false},
		{"one more", []string{"abcdefgh", "i"}, "bcdefghi", true},
		{"a chunk that is too long", []string{"a", "bcdefghijkl"}, "efghijkl", true},
		{"many", strings.Split("abcdefghijklmnopqrstuvwxyz", ""), "stuvwxyz", true},
		{"a character that is cut", []string{"€€€"}, "€€", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			tail := New(8)
			for _, chunk := range test.chunks {
				write(t, tail, chunk)
			}
			if tail.Text() != test.want || tail.Cut() != test.cut {
				t.Errorf("expected %q, cut %v, got %q, cut %v", test.want, test.cut, tail.Text(), tail.Cut())
			}
		})
	}
}

// FuzzTail checks that a Tail always equals the end of the whole output.
func FuzzTail(f *testing.F) {
	f.Add("abc", "€uro", "xyz", 5)
	f.Fuzz(func(t *testing.T, one, two, three string, size int) {
		tail, all := New(max(1, size%100)), one+two+three
		for _, chunk := range []string{one, two, three} {
			write(t, tail, chunk)
		}
		got := tail.Text()
		missing := min(len(all), len(tail.ring)) - len(got)
		if !strings.HasSuffix(all, got) || missing >= utf8.UTFMax || missing < 0 {
			t.Errorf("the last %d bytes of %q: got %q", len(tail.ring), all, got)
		}
	})
}

func write(t *testing.T, tail *Tail, chunk string) {
	t.Helper()
	if n, err := tail.Write([]byte(chunk)); n != len(chunk) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(chunk), err)
	}
}
