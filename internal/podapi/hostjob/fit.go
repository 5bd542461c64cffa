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
	// MaxResult is the maximum size of a result in bytes. Kubelets cut off longer termination messages.
	MaxResult = 4096
	// TailSize is how many bytes of output a result holds, which leaves room for the other fields. If the output needs
	// many JSON escapes, EncodeResult cuts it further.
	TailSize = 3 << 10
	maxWord  = 64 // limits reason, signal and boot ID, which are single words
	// widest is the largest number of JSON bytes for one byte of text, as in \u001b.
	widest = 6
)

// EncodeResult returns the result as JSON of at most MaxResult bytes, for ParseResult. To shorten a result, it first
// cuts off the start of the output, and then the end of the message.
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

// tidy limits the length of each text, and changes times that JSON cannot express.
func (r *Result) tidy() {
	r.State = State(clip(string(r.State), maxWord))
	r.Reason, r.Signal, r.BootID = clip(r.Reason, maxWord), clip(r.Signal, maxWord), clip(r.BootID, maxWord)
	r.Message = clip(strings.ReplaceAll(r.Message, "\n", "; "), MaxResult) // errors.Join inserts line breaks
	r.Tail = strings.ToValidUTF8(r.Tail, "\uFFFD")
	if excess := len(r.Tail) - MaxResult; excess > 0 {
		r.Tail, r.Truncated = dropFront(r.Tail, excess), true
	}
	r.StartedAt, r.EndedAt = encodable(r.StartedAt), encodable(r.EndedAt)
}

// encodable returns the time in UTC with millisecond precision. If JSON cannot express its year, it returns the zero
// time.
func encodable(t time.Time) time.Time {
	if t = t.UTC().Truncate(time.Millisecond); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

func encode(r Result) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // output often contains < > &, and their escapes need six bytes
	if err := encoder.Encode(r); err != nil {
		return []byte(`{"state":"Unknown","message":"the result cannot be encoded"}`)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func clip(text string, length int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return dropBack(text, max(0, len(text)-length))
}

// dropFront removes at least n bytes from the start of a text, without splitting a character.
func dropFront(text string, n int) string {
	n = min(n, len(text))
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[n:]
}

// dropBack removes at least n bytes from the end of a text, without splitting a character.
func dropBack(text string, n int) string {
	end := max(0, len(text)-n)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
