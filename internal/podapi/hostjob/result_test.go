// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestAResultThatIsEncodedIsReadAsItWas(t *testing.T) {
	code := 3
	want := Result{
		State: Failed, Reason: ReasonExited, Message: "exited with code 3", ExitCode: &code, StartedAt: morning().Add(5 * time.Millisecond),
		EndedAt: morning().Add(time.Second), Tail: "<a> & \"b\"\n\x1b[0m", Bytes: 17, BootID: "b", Again: true,
	}
	text := EncodeResult(want)
	got, err := ParseResult(string(text))
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("error %v, difference from the expected result: %s", err, cmp.Diff(want, got))
	}
	if !strings.Contains(string(text), `"startedAt":"2026-05-01T08:00:00.005Z"`) || !strings.Contains(string(text), `<a> & \"b\"`) {
		t.Errorf("expected times with milliseconds and no needless escapes, got %s", text)
	}
}

func TestAResultAlwaysFitsIntoATerminationMessage(t *testing.T) {
	long := strings.Repeat
	for name, r := range map[string]Result{
		"a tail of plain text":         {State: Succeeded, Tail: long("a", 5000)},
		"a tail of control characters": {State: Succeeded, Tail: long("\x1b", TailSize)},
		"a tail of broken UTF-8":       {State: Succeeded, Tail: long("a\xff", TailSize/2)},
		"a tail of wide characters":    {State: Succeeded, Tail: long("\u2028", TailSize/3)},
		"a long message":               {State: NotStarted, Message: long("\x00", 5000), Tail: long("b", TailSize)},
		"long words":                   {State: State(long("\x00", 5000)), Reason: long("\x00", 5000), Signal: long("\x00", 5000), BootID: long("\x00", 5000), Message: long("\x00", 5000)},
		"times beyond all years":       {State: Succeeded, StartedAt: time.Unix(1<<55, 0), EndedAt: time.Unix(-1<<55, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			text := EncodeResult(r)
			got, err := ParseResult(string(text))
			if len(text) > MaxResult || (err != nil && len(r.State) < maxWord) {
				t.Fatalf("%d bytes, read with error %v: %s", len(text), err, text)
			}
			if r.Tail != "" && (!got.Truncated || !strings.HasSuffix(strings.ToValidUTF8(r.Tail, "\uFFFD"), got.Tail)) {
				t.Errorf("expected the end of the tail, marked as truncated, got %+v", got)
			}
			if name == "a tail of plain text" && len(text) < MaxResult-1 {
				t.Errorf("only %d of %d bytes are used", len(text), MaxResult)
			}
		})
	}
}

func TestAnInvalidResultIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                 "",
		"of another program":      "panic: runtime error",
		"cut off":                 `{"state":"Succeeded","tail":"aaa`,
		"the end of a longer one": `aaa","bytes":3}`,
		"another type":            `["Succeeded"]`,
		"a list of states":        `{"state":["Succeeded"]}`,
		"no state":                `{}`,
		"a state of its own":      `{"state":"Great"}`,
		"an impossible code":      `{"state":"Failed","exitCode":-7}`,
		"a code that is no int":   `{"state":"Failed","exitCode":1e9}`,
		"negative bytes":          `{"state":"Failed","bytes":-7}`,
		"a time that is none":     `{"state":"Failed","startedAt":"noon"}`,
		"NUL":                     "\x00\x00",
	} {
		if r, err := ParseResult(text); err == nil {
			t.Errorf("%s was read as %+v", name, r)
		}
	}
}

func TestAResultOfALaterVersionIsRead(t *testing.T) {
	if r, err := ParseResult(` {"state":"Failed","exitCode":1,"somethingNew":{"a":1}}` + "\n"); err != nil || *r.ExitCode != 1 {
		t.Errorf("got %+v and %v", r, err)
	}
}

// FuzzParseResult checks that the parser never panics, and that an accepted result stays unchanged and within the size
// limit when it is encoded again.
func FuzzParseResult(f *testing.F) {
	f.Add(`{"state":"Succeeded","exitCode":0,"tail":"a\u0000\ud800","bytes":1,"startedAt":"2026-05-01T08:00:00.123456Z"}`)
	f.Add(`{"state":"Failed","signal":"SIGKILL","message":"` + strings.Repeat("\\u0001", 900) + `"}`)
	f.Add("\xff{")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseResult(text)
		if err != nil {
			return
		}
		encoded := EncodeResult(r)
		again, err := ParseResult(string(encoded))
		if err != nil || len(encoded) > MaxResult || !utf8.Valid(encoded) {
			t.Fatalf("%q became %q (%v)", text, encoded, err)
		}
		if second := EncodeResult(again); string(second) != string(encoded) {
			t.Errorf("%q became %q and then %q", text, encoded, second)
		}
	})
}

// FuzzEncodeResult checks that every encoded result stays within the size limit.
func FuzzEncodeResult(f *testing.F) {
	f.Add("reason", "message", "tail", 3000)
	f.Add("\xff", "\u2028", "\x00", 4000)
	f.Fuzz(func(t *testing.T, reason, message, tail string, times int) {
		times = max(0, times) % 5000
		text := EncodeResult(Result{State: Failed, Reason: reason, Message: strings.Repeat(message, times/max(1, len(message))), Tail: strings.Repeat(tail, times/max(1, len(tail)))})
		if _, err := ParseResult(string(text)); err != nil || len(text) > MaxResult {
			t.Errorf("%d bytes, read with error %v", len(text), err)
		}
	})
}
