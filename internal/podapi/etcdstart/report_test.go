// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdstart

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	want := Report{VolumeLost, "a \"log\"\n<gone> €"}
	if got, err := ParseReport(string(want.Encode())); err != nil || got != want {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestAReportFitsIntoATerminationMessage(t *testing.T) {
	for name, text := range map[string]string{
		"plain":   "x",
		"quotes":  `"`,
		"control": "\x01",
		"wide":    "€",
		"broken":  "\xffa",
	} {
		report := Report{EtcdEnded, strings.Repeat(text, 9000) + "the end"}
		encoded := report.Encode()
		got, err := ParseReport(string(encoded))
		if err != nil || len(encoded) > maxReport || len(encoded) < maxReport/2 || !strings.HasSuffix(got.Message, "the end") || !utf8.Valid(encoded) {
			t.Errorf("%s: %d bytes, error %v", name, len(encoded), err)
		}
	}
}

func TestAnInvalidReportIsAnError(t *testing.T) {
	for _, text := range []string{"", "panic: runtime error", `{"reason":"What","message":""}`, `{"reason":"VolumeLost","mess`, `[]`, `{}`} {
		if got, err := ParseReport(text); err == nil {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}
