// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import "fmt"

// Limits limits the answers to the last write on a connection. If the write was a pipeline of commands, the limits
// apply to all of its answers together.
type Limits struct {
	// Bytes is the maximum number of bytes, announced or received. Text is the maximum number of bytes in one text.
	Bytes, Text int64
	// Elements is the maximum number of elements in all lists together. Depth is how deeply lists may be nested.
	Elements int64
	Depth    int
	// Line is the maximum number of bytes in a line.
	Line int64
}

// ExceededError reports an answer beyond a limit. The connection is then closed.
type ExceededError struct {
	What         string
	Found, Limit int64
}

func (e *ExceededError) Error() string {
	return fmt.Sprintf("opcrew refuses an answer with %s: at least %d are announced, and the limit is %d; check what listens at this address", e.What, e.Found, e.Limit)
}

// InvalidError reports an answer that does not follow the protocol RESP2. The connection is then closed.
type InvalidError struct{ What string }

func (e *InvalidError) Error() string {
	return "opcrew refuses an answer that does not follow the Redis protocol: " + e.What
}

type state int

const (
	atKind state = iota
	inLine
	inText
)

// scanner follows the structure of RESP2 byte by byte. It stores none of the content.
type scanner struct {
	limits Limits

	state    state
	kind     byte
	last     byte // last byte of the current line
	length   int64
	number   int64
	digits   int
	negative bool
	rest     int64   // bytes of the current text that are still to come
	open     []int64 // number of elements to come in each open list

	bytes, elements int64 // how many bytes and list elements were received since the last write
}

// begin resets the counts for the answers to another write.
func (s *scanner) begin() { s.bytes, s.elements = 0, 0 }

// between reports whether the last answer is complete.
func (s *scanner) between() bool { return s.state == atKind && len(s.open) == 0 }

// scan checks the next bytes of an answer. After an error, the answer must not be read further.
func (s *scanner) scan(p []byte) error {
	for len(p) > 0 {
		if s.state == inText {
			n := min(int64(len(p)), s.rest)
			p, s.rest = p[n:], s.rest-n
			if s.rest == 0 {
				s.complete()
			}
			continue
		}
		if err := s.count(1); err != nil {
			return err
		}
		if err := s.next(p[0]); err != nil {
			return err
		}
		p = p[1:]
	}
	return nil
}

func (s *scanner) next(b byte) error {
	if s.state == atKind {
		return s.begins(b)
	}
	if s.length++; s.length > s.limits.Line {
		return &ExceededError{"too many bytes in a line", s.length, s.limits.Line}
	}
	last := s.last
	s.last = b
	if b == '\n' {
		if last != '\r' {
			return &InvalidError{"a line ends without a carriage return"}
		}
		return s.endLine()
	}
	if s.kind != '$' && s.kind != '*' || b == '\r' && s.digits > 0 {
		return nil
	}
	return s.digit(b, last)
}

func (s *scanner) begins(b byte) error {
	switch b {
	case '+', '-', ':', '$', '*':
		s.state, s.kind, s.last, s.length, s.number, s.digits, s.negative = inLine, b, 0, 0, 0, 0, false
		return nil
	}
	return &InvalidError{fmt.Sprintf("a value begins with %q", b)}
}

// digit checks a length while its digits arrive, before the client library sees the complete number.
func (s *scanner) digit(b, last byte) error {
	switch {
	case b == '-' && s.digits == 0 && !s.negative:
		s.negative = true
		return nil
	case b < '0' || b > '9' || last == '\r':
		return &InvalidError{fmt.Sprintf("a length has the character %q", b)}
	}
	s.digits++
	s.number = s.number*10 + int64(b-'0')
	if s.negative && s.number > 1 {
		return &InvalidError{"a length is negative"}
	}
	return s.announced()
}

// announced checks the length that was read so far. Further digits can only increase it.
func (s *scanner) announced() error {
	switch {
	case s.negative:
		return nil
	case s.kind == '$' && s.number > s.limits.Text:
		return &ExceededError{"too many bytes in a text", s.number, s.limits.Text}
	case s.kind == '$' && s.bytes+s.number > s.limits.Bytes:
		return &ExceededError{"too many bytes in all texts", s.bytes + s.number, s.limits.Bytes}
	case s.kind == '*' && s.elements+s.number > s.limits.Elements:
		return &ExceededError{"too many list elements", s.elements + s.number, s.limits.Elements}
	}
	return nil
}

func (s *scanner) endLine() error {
	isLength := s.kind == '$' || s.kind == '*'
	switch {
	case isLength && (s.digits == 0 || s.negative && s.number != 1):
		return &InvalidError{"a length is missing"}
	case !isLength || s.negative || s.kind == '*' && s.number == 0:
		s.complete()
		return nil
	case s.kind == '$':
		s.state, s.rest = inText, s.number+int64(len("\r\n"))
		return s.count(s.rest)
	}
	s.elements += s.number
	if len(s.open) >= s.limits.Depth {
		return &ExceededError{"too many levels of nested lists", int64(len(s.open)) + 1, int64(s.limits.Depth)}
	}
	s.open, s.state = append(s.open, s.number), atKind
	return nil
}

// count counts bytes before they are passed to the client library.
func (s *scanner) count(n int64) error {
	if s.bytes += n; s.bytes > s.limits.Bytes {
		return &ExceededError{"too many bytes", s.bytes, s.limits.Bytes}
	}
	return nil
}

// complete ends a value. If the value is the last element of a list, complete also ends the list, and so on outwards.
func (s *scanner) complete() {
	s.state = atKind
	for n := len(s.open); n > 0; n-- {
		if s.open[n-1]--; s.open[n-1] > 0 {
			return
		}
		s.open = s.open[:n-1]
	}
}
