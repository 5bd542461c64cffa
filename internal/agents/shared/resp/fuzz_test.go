// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"bufio"
	"strings"
	"testing"
)

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"+PONG\r\n", "$5\r\nhello\r\n", "*2\r\n*1\r\n:1\r\n$0\r\n\r\n", "$9223372036854775800\r\n", "*9223372036854775807\r\n", "$-1\r\n",
		strings.Repeat("*1\r\n", 9) + ":1\r\n", "-LOADING x\r\n", "\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for _, list := range []bool{false, true} {
			c := &Conn{in: bufio.NewReaderSize(strings.NewReader(answer), maxLine), left: maxItems}
			read := func() ([]string, error) { return c.list(nil, maxDepth) }
			if !list {
				read = func() ([]string, error) {
					one, err := c.read()
					return []string{one}, err
				}
			}
			items, err := read()
			if size := len(strings.Join(items, "")); err == nil && (size > len(answer) || len(items) > maxItems+1) {
				t.Errorf("%q is read as %d items of %d bytes", answer, len(items), size)
			}
		}
	})
}
