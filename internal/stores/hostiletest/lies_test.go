// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest_test

import (
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/stores/hostiletest"
)

const (
	// listening is how long a client listens to a hostile server. A slow server sends two bytes or less in this time.
	listening = 1500 * time.Millisecond
	// much is how many bytes a client reads at most.
	much = 1 << 20
)

// lie is what a hostile server sends to a client: the beginning of the text, and how it goes on.
type lie struct {
	begins string
	ends   error
}

// The ways in which a server goes on: it sends text without end, or nothing more, or it closes the connection.
var (
	floods  error
	silent  = os.ErrDeadlineExceeded
	closing = io.EOF
)

// hear sends a request, and returns what a server answers.
func hear(t *testing.T, address, request string) lie {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(listening)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, much)
	n, err := io.ReadFull(conn, answer)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return lie{string(answer[:n]), err}
}

// wantLies checks that there is a server for each of the lies, and that it sends this lie.
func wantLies(t *testing.T, servers map[string]string, request string, want map[string]lie) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(servers)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("expected a test of each server, got the servers %q", got)
	}
	for name, lie := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := hear(t, servers[name], request)
			if !strings.HasPrefix(got.begins, lie.begins) || !errors.Is(got.ends, lie.ends) {
				t.Errorf("expected %q and then %v, got %q... and then %v", lie.begins, lie.ends, got.begins[:min(len(got.begins), 60)], got.ends)
			}
			if slow := errors.Is(lie.ends, silent); slow && len(got.begins) > 2 {
				t.Errorf("expected at most two bytes, got %d", len(got.begins))
			}
		})
	}
}

func TestHostileMemcachedServersLie(t *testing.T) {
	wantLies(t, hostiletest.ServeMemcached(), "get k\r\n", map[string]lie{
		"a value beyond all memory":   {"VALUE k 0 9223372036854775800\r\nx", floods},
		"a value of a gigabyte":       {"VALUE k 0 1073741824\r\nx", floods},
		"a value of a negative size":  {"VALUE k 0 -9223372036854775807\r\nVALUE k 0 -1\r\n", floods},
		"a size that is no number":    {"VALUE k 0 1e999\r\nVALUE k 0 0x", floods},
		"a value longer than it says": {"VALUE k 0 1\r\nxx", floods},
		"values without end":          {"VALUE k 0 65536\r\nx", floods},
		"statistics without end":      {"STAT pid 1\r\nSTAT a 1\r\nSTAT a 1\r\n", floods},
		"a key without end":           {"VALUE xx", floods},
		"an endless error":            {"SERVER_ERROR xx", floods},
		"a wrong version":             {"VERSION 18446744073709551616.-1\r\nVERSION \x00\r\n", floods},
		"no protocol":                 {"HTTP/1.1 200 OK\r\nx", floods},
		"one byte a second":           {"V", silent},
		"no answer":                   {"", silent},
		"a closed connection":         {"", closing},
	})
}

func TestHostileSSHServersLie(t *testing.T) {
	const version = "SSH-2.0-OpenSSH_10.0\r\n"
	wantLies(t, hostiletest.ServeSSH(), "SSH-2.0-test\r\n", map[string]lie{
		"lines before the version":    {"welcome\r\nwelcome\r\nwelcome\r\n", floods},
		"a line without end":          {"welcome xx", floods},
		"a version without end":       {"SSH-2.0-xx", floods},
		"a version of the future":     {"SSH-9.9-", floods},
		"a packet beyond memory":      {version + "\xff\xff\xff\xffx", floods},
		"a packet of no size":         {version + "\x00\x00\x00\x00\x00\x00\x00\x00", floods},
		"padding beyond the packet":   {version + "\x00\x00\x00\x0c\xffx", floods},
		"messages without end":        {version + "\x00\x00", floods},
		"an offer of garbage":         {version + "\x00\x00", floods},
		"an offer of many algorithms": {version + "\x00\x00", floods},
		"a garbage key exchange":      {version + "\x00\x00", floods},
		"one byte a second":           {"S", silent},
		"no answer":                   {"", silent},
		"a closed connection":         {"", closing},
	})
}
