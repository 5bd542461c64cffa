// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"strings"
	"testing"
)

func TestValuesAreMaskedWhereverTheyStand(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		values           []string
	}{
		{"nothing secret", "a text", "a text", nil},
		{"in the middle", "the password is hunter2!", "the password is ***!", []string{"hunter2"}},
		{"twice", "hunter2 hunter2", "*** ***", []string{"hunter2"}},
		{"twice without a gap", "hunter2hunter2", "***", []string{"hunter2"}},
		{"only begun", "hunter", "hunter", []string{"hunter2"}},
		{"begun twice", "huhunter2", "hu***", []string{"hunter2"}},
		{"one within another", "abcdef abcd", "*** ***", []string{"abcd", "abcdef"}},
		{"one over another", "xabcdefx", "x***x", []string{"abcd", "cdef"}},
		{"over itself", "xababababx", "x***x", []string{"abab"}},
		{"too short to be one", "the abc", "the abc", []string{"abc", ""}},
		{"with the line break of its file", "it is hunter2.", "it is ***.", []string{"hunter2\n"}},
		{"several lines", "-\nkey one\nkey two\n-", "-\n***\n-", []string{"key one\nkey two\n"}},
		{"a line break that makes it long enough", "abc\n.", "***.", []string{"abc\n"}},
		{"bytes", "a\xff\xfe\xfd\xfcb", "a***b", []string{"\xff\xfe\xfd\xfc"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Text(test.text, test.values...); got != test.want {
				t.Errorf("expected %q, got %q", test.want, got)
			}
		})
	}
}

func TestBytesThatCannotBeAValueAreNotHeldBack(t *testing.T) {
	m := New("hunter2")
	for _, step := range []struct{ chunk, want string }{{"a line\n", "a line\n"}, {"hun", ""}, {"ger ", "hunger "}, {"hunter2", "***"}, {"hunt", ""}} {
		if got := string(m.Write([]byte(step.chunk))); got != step.want {
			t.Errorf("after %q expected %q, got %q", step.chunk, step.want, got)
		}
	}
	if got := string(m.Flush()); got != "hunt" {
		t.Errorf("expected the rest at the end, got %q", got)
	}
}

// naive is a simple implementation for comparison, which searches at each position of the whole text.
func naive(text string, values ...string) string {
	covered := make([]bool, len(text)+1)
	for _, value := range values {
		for i := 0; i+len(value) <= len(text) && value != ""; i++ {
			for j := i; strings.HasPrefix(text[i:], value) && j < i+len(value); j++ {
				covered[j] = true
			}
		}
	}
	var out strings.Builder
	for i := range len(text) {
		switch {
		case !covered[i]:
			out.WriteByte(text[i])
		case i == 0 || !covered[i-1]:
			out.WriteString(masked)
		}
	}
	return out.String()
}

// FuzzMask checks that a text in chunks of any size is masked in the same way as the whole text.
func FuzzMask(f *testing.F) {
	f.Add("xababababx", "abab", "baba", 1)
	f.Add("aaaaaaaaaa", "aaaa", "aaaaaa", 3)
	f.Add("the hunter2", "hunter2", "\x00\x01\x02\x03", 5)
	f.Fuzz(func(t *testing.T, text, one, two string, size int) {
		one, two = strings.TrimSpace(one), strings.TrimSpace(two)
		if len(one) < shortest || len(two) < shortest {
			return
		}
		m, got := New(one, two), ""
		for rest := text; rest != ""; {
			n := min(len(rest), max(1, size))
			got, rest = got+string(m.Write([]byte(rest[:n]))), rest[n:]
		}
		got += string(m.Flush())
		values := []string{one, two}
		for _, value := range []string{one, two} { // each line of a value must be masked too
			for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
				if line = strings.TrimSpace(line); len(line) >= shortest {
					values = append(values, line)
				}
			}
		}
		if want := naive(text, values...); got != want {
			t.Errorf("%q without %q and %q: expected %q, got %q", text, one, two, want, got)
		}
	})
}
