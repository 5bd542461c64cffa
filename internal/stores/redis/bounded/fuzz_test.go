// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"io"
	"testing"
)

// The scanner must give the same result if an answer arrives in two chunks instead of one. An answer that it accepts
// must stay within the limits.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		"+OK\r\n", "$5\r\nhello\r\n", "*2\r\n:1\r\n*1\r\n$-1\r\n", "$9223372036854775800\r\n", "*9223372036854775807\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n", "-ERR\r\n$", "$1\r\na\r\n\n",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, answer []byte, cut uint8) {
		whole, parts := scanner{limits: tight}, scanner{limits: tight}
		first := min(int(cut), len(answer))
		err := whole.scan(answer)
		other := parts.scan(answer[:first])
		if other == nil {
			other = parts.scan(answer[first:])
		}
		if (err == nil) != (other == nil) {
			t.Errorf("%q: %v, and cut at %d: %v", answer, err, first, other)
		}
		if err == nil && (whole.bytes > tight.Bytes || whole.elements > tight.Elements || len(whole.open) > tight.Depth || whole.between() != parts.between()) {
			t.Errorf("%q passes with %+v", answer, whole)
		}
		got, err := io.ReadAll(Conn(&sends{chunks: []string{string(answer[:first]), string(answer[first:])}}, tight, NewBudget(100)))
		if err == nil && !bytes.Equal(got, answer) {
			t.Errorf("%q is passed on as %q", answer, got)
		}
	})
}
