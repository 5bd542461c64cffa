// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// together answers no PING before the given number of connections have sent one.
type together struct {
	missing sync.WaitGroup
}

func newTogether(connections int) *together {
	g := &together{}
	g.missing.Add(connections)
	return g
}

func (g *together) serve(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch strings.ToLower(lines.Text()) {
		case "hello":
			_, _ = conn.Write([]byte("-ERR unknown command 'hello'\r\n"))
		case "ping":
			g.missing.Done()
			g.missing.Wait()
			_, _ = conn.Write([]byte("+PONG\r\n"))
		}
	}
}

// Regression test: the parallel commands of a slot move shared four connections, so the move waited several times
// longer for the servers' disks.
func TestEachLaneOfAMoveHasAConnectionOfItsOwn(t *testing.T) {
	server := newTogether(MostLanes)
	dial := func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go server.serve(theirs)
		return ours, nil
	}
	store, err := DialThrough(dial)(Target{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // no call is in progress, so an error does not matter
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var lanes sync.WaitGroup
	for range MostLanes {
		lanes.Go(func() {
			if _, err := store.Do(ctx, "10.1.2.3:6379", Command{"PING"}); err != nil {
				t.Errorf("expected the commands of all lanes to be in progress at the same time, got %v", err)
			}
		})
	}
	lanes.Wait()
}
