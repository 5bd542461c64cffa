// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package htpasswd

import (
	"strings"
	"testing"
	"unicode"
)

func FuzzParse(f *testing.F) {
	f.Add("alice:$2y$05$" + Decoy + "\nbob:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n# a comment\n")
	f.Add("\ufeffalice:$2a$31$" + Decoy + "\r\nalice :x\n:\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		lines, bad := Parse(text)
		for _, line := range lines {
			if line.Work() > 1<<maxCost || line.User == "" || strings.ContainsFunc(line.User, unicode.IsControl) {
				t.Errorf("%q admits %+v", text, line)
			}
		}
		for _, complaint := range bad {
			if len(complaint.Reason.Error()) > 200 || complaint.Line < 1 {
				t.Errorf("the complaint about line %d is %q", complaint.Line, complaint.Reason)
			}
		}
		if Usable(text) != (len(lines) > 0) {
			t.Errorf("%q is usable although it has no line", text)
		}
	})
}
