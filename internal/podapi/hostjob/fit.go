// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// MaxResult is the size of a termination message that a kubelet keeps, in bytes.
	MaxResult = 4096
	// TailSize limits the tail, in bytes, to leave room for the rest of the result. It fits if few characters need an
	// escape.
	TailSize = 3 << 10
	maxWord  = 64 // limits reason, signal and boot ID, which are single words
	// widest is the most bytes of JSON for one byte of text, as in \u001b.
	widest = 6
)

// EncodeResult returns at most MaxResult bytes for ParseResult. If the result is longer, it first cuts off the start of
// the tail, and then the end of the message.
func EncodeResult(r Result) []byte {
	r.tidy()
	for {
		text := encode(r)
		excess := len(text) - MaxResult
		switch {
		case excess <= 0:
			return text
		case r.Tail != "":
			r.Tail, r.Truncated = dropFront(r.Tail, excess/widest+1), true
		default:
			r.Message = dropBack(r.Message, excess/widest+1)
		}
	}
}

// tidy bounds the size of a result, and makes its times encodable.
func (r *Result) tidy() {
	r.State = State(clip(string(r.State), maxWord))
	r.Reason, r.Signal, r.BootID = clip(r.Reason, maxWord), clip(r.Signal, maxWord), clip(r.BootID, maxWord)
	r.Message = clip(strings.ReplaceAll(r.Message, "\n", "; "), MaxResult) // errors.Join puts line breaks between errors
	r.Tail = strings.ToValidUTF8(r.Tail, "\uFFFD")
	if excess := len(r.Tail) - MaxResult; excess > 0 {
		r.Tail, r.Truncated = dropFront(r.Tail, excess), true
	}
	r.StartedAt, r.EndedAt = encodable(r.StartedAt), encodable(r.EndedAt)
}

// encodable returns a time in UTC with milliseconds, or no time if JSON cannot express its year.
func encodable(t time.Time) time.Time {
	if t = t.UTC().Truncate(time.Millisecond); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

func encode(r Result) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // escapes need six bytes, and < > & are frequent in output
	if err := encoder.Encode(r); err != nil {
		return []byte(`{"state":"Unknown","message":"the result cannot be encoded"}`)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func clip(text string, length int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return dropBack(text, max(0, len(text)-length))
}

// dropFront removes whole characters, at least n bytes in total, from the start of a text.
func dropFront(text string, n int) string {
	n = min(n, len(text))
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[n:]
}

// dropBack removes whole characters, at least n bytes in total, from the end of a text.
func dropBack(text string, n int) string {
	end := max(0, len(text)-n)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
