// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answering returns a connection to a server that sends the same response to every command.
func answering(t *testing.T, answer string) (c *Conn, asked <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	questions := make(chan string, 10)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		buffer := make([]byte, 1<<10)
		for {
			n, err := conn.Read(buffer)
			if err != nil {
				return
			}
			questions <- string(buffer[:n])
			fmt.Fprint(conn, answer)
		}
	}()
	c, err = Dial(t.Context(), listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, questions
}

func TestAnswersAreLinesNumbersAndTexts(t *testing.T) {
	for answer, want := range map[string]string{
		"+PONG\r\n":                "PONG",
		":42\r\n":                  "42",
		"$11\r\nhello\r\nworl\r\n": "hello\r\nworl",
		"$0\r\n\r\n":               "",
	} {
		c, asked := answering(t, answer)
		for range 2 {
			if got, err := c.Do(t.Context(), "GET", "a b"); got != want || err != nil {
				t.Errorf("%q is read as %q, error %v", answer, got, err)
			}
			if question := <-asked; question != "*2\r\n$3\r\nGET\r\n$3\r\na b\r\n" {
				t.Errorf("the command is sent as %q", question)
			}
		}
	}
}

func TestNestedListsAreFlattened(t *testing.T) {
	for answer, want := range map[string][]string{
		"*2\r\n$4\r\nname\r\n$0\r\n\r\n": {"name", ""},
		"*0\r\n":                         nil,
		"*2\r\n*2\r\n+a\r\n:1\r\n*1\r\n*1\r\n$1\r\nb\r\n": {"a", "1", "b"},
		"+OK\r\n": {"OK"},
	} {
		c, _ := answering(t, answer)
		for range 2 {
			if got, err := c.List(t.Context(), "LIST"); !slices.Equal(got, want) || err != nil {
				t.Errorf("%q is read as %q, error %v", answer, got, err)
			}
		}
	}
	for _, answer := range []string{"*-1\r\n", "*65537\r\n", "*x\r\n", strings.Repeat("*1\r\n", 6) + "+a\r\n", "-ERR unknown\r\n"} {
		c, _ := answering(t, answer)
		if got, err := c.List(t.Context(), "LIST"); err == nil {
			t.Errorf("%q: expected an error, got %q", answer, got)
		}
	}
}

func TestARefusalLeavesTheConnectionUsable(t *testing.T) {
	c, _ := answering(t, "-LOADING Redis is loading\r\n")
	for range 2 {
		_, err := c.Do(t.Context(), "PING")
		if refusal, ok := errors.AsType[Error](err); !ok || refusal.Code() != "LOADING" {
			t.Errorf("expected a refusal, got %v", err)
		}
	}
}

func TestAnInvalidAnswerIsAnError(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 400 Bad Request\r\n", "*1\r\n+OK\r\n", "$-1\r\n", "$99999999999\r\n", "$4194305\r\n", "$x\r\n", "\n", "+" + strings.Repeat("x", maxLine),
	} {
		c, _ := answering(t, answer)
		got, err := c.Do(t.Context(), "PING")
		if _, refusal := errors.AsType[Error](err); err == nil || refusal {
			t.Errorf("%.40q is read as %q, error %v", answer, got, err)
		}
	}
}

func TestAServerThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		c := newConn(ours)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Do(ctx, "PING"); err == nil {
			t.Error("expected an error")
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := newConn(ours).Do(ctx, "PING"); err == nil {
			t.Error("expected an error")
		}
	})
}
