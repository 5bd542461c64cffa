// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

var tight = Limits{Bytes: 1000, Text: 100, Elements: 10, Depth: 3, Line: 50}

// sends is a connection on which a server sends the given chunks.
type sends struct {
	net.Conn
	chunks []string
	closed bool
}

func (c *sends) Read(p []byte) (int, error) {
	if len(c.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.chunks[0])
	if c.chunks[0] = c.chunks[0][n:]; c.chunks[0] == "" {
		c.chunks = c.chunks[1:]
	}
	return n, nil
}

func (c *sends) Write(p []byte) (int, error) { return len(p), nil }

func (c *sends) Close() error {
	c.closed = true
	return nil
}

// once reads an answer that arrives in one large chunk.
func once(chunk string) (text string, closed bool, err error) {
	server := &sends{chunks: []string{chunk}}
	p := make([]byte, 4<<10)
	n, err := Conn(server, tight, NewBudget(1<<20)).Read(p)
	return string(p[:n]), server.closed, err
}

func read(chunks ...string) (text string, closed bool, err error) {
	server := &sends{chunks: chunks}
	all, err := io.ReadAll(Conn(server, tight, NewBudget(1<<20)))
	return string(all), server.closed, err
}

func TestAnswersWithinTheLimitsPassUnchangedInAnyChunks(t *testing.T) {
	answer := "+OK\r\n:42\r\n-ERR no\r\n$5\r\nhe\nlo\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n*1\r\n$0\r\n\r\n*2\r\n:1\r\n+a\r\n$100\r\n" + strings.Repeat("x", 100) + "\r\n"
	for size := 1; size <= len(answer); size++ {
		var chunks []string
		for rest := answer; rest != ""; rest = rest[min(size, len(rest)):] {
			chunks = append(chunks, rest[:min(size, len(rest))])
		}
		if got, closed, err := read(chunks...); got != answer || closed || err != nil {
			t.Fatalf("in chunks of %d: expected the answer to pass, got %q, closed %t: %v", size, got, closed, err)
		}
	}
}

func TestAnAnswerBeyondALimitClosesTheConnectionBeforeItIsPassedOn(t *testing.T) {
	for name, answer := range map[string]string{
		"the panic of a text": "$9223372036854775800\r\n", "the panic of a list": "*9223372036854775807\r\n", "a length that overflows": "$99999999999999999999999999\r\n",
		"a long text": "$101\r\n", "a long list": "*11\r\n", "lists of lists": "*9\r\n*2\r\n", "deep lists": "*1\r\n*1\r\n*1\r\n*1\r\n",
		"a long line": "+" + strings.Repeat("x", 51), "a long length": "$" + strings.Repeat("0", 51), "an endless error": "-" + strings.Repeat("x", 60),
		"texts together": strings.Repeat("$100\r\n"+strings.Repeat("x", 100)+"\r\n", 10),
	} {
		got, closed, err := once(answer)
		if exceeded, is := errors.AsType[*ExceededError](err); !is || !closed || got != "" || exceeded.Found <= exceeded.Limit {
			t.Errorf("%s: expected nothing to be passed on and the connection to be closed, got %.40q, closed %t: %v", name, got, closed, err)
		}
	}
}

func TestTheErrorSaysWhatWasAnnouncedBeforeAllDigitsAreThere(t *testing.T) {
	_, _, err := read("$922", "3372036854775800\r\n")
	if err == nil || !strings.Contains(err.Error(), "at least 922 are announced, and the limit is 100") {
		t.Errorf("expected the first digits to be refused, got %v", err)
	}
}

func TestWhatIsNotRESP2ClosesTheConnection(t *testing.T) {
	for _, answer := range []string{"HTTP/1.1 400\r\n", "%1\r\n", "$-2\r\n", "$--1\r\n", "$-\r\n", "$\r\n", "$1x\r\n", "$1\r2\r\n", "+OK\n", "*\n", "$ 5\r\n", "\x16\x03\x01"} {
		got, closed, err := read(answer)
		if _, is := errors.AsType[*InvalidError](err); !is || !closed || got != "" {
			t.Errorf("%q: expected the connection to be closed, got %q, closed %t: %v", answer, got, closed, err)
		}
	}
}

func TestEachWriteBeginsAnotherAnswer(t *testing.T) {
	answer := "*10\r\n" + strings.Repeat(":1\r\n", 10)
	conn := Conn(&sends{chunks: []string{answer, answer, answer}}, tight, NewBudget(0))
	p := make([]byte, 1000)
	for range 2 {
		if _, err := conn.Read(p); err != nil {
			t.Fatalf("expected ten elements to be allowed after each command, got %v", err)
		}
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = conn.Read(p)
	if _, err := conn.Read(p); !errors.Is(err, io.EOF) {
		t.Errorf("expected the end, got %v", err)
	}
}

func TestLargeAnswersShareABudgetAndSmallOnesNeedNone(t *testing.T) {
	limits, budget := Limits{Bytes: 1 << 20, Text: 1 << 20, Elements: 10, Depth: 1, Line: 50}, NewBudget(200<<10)
	begin := func(announced string) (net.Conn, error) {
		conn := Conn(&sends{chunks: []string{announced}}, limits, budget)
		_, err := conn.Read(make([]byte, 100))
		return conn, err
	}
	first, err := begin("$200000\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begin("$200000\r\n"); !isBusy(err) {
		t.Errorf("expected a second large answer to be refused, got %v", err)
	}
	if _, err := begin("$20000\r\n"); err != nil {
		t.Errorf("expected a small answer to be received, got %v", err)
	}
	_ = first.Close()
	if _, err := begin("$200000\r\n"); err != nil {
		t.Errorf("expected a large answer to be received after the first, got %v", err)
	}
}

func isBusy(err error) bool {
	_, is := errors.AsType[*BusyError](err)
	return is
}
