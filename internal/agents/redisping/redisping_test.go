// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisping

import (
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

func TestAServerThatNeedsAPasswordIsAlive(t *testing.T) {
	pod := redistest.New(t)
	o := Options{Port: pod.Home.Port, Timeout: time.Minute}
	if err := Run(t.Context(), o); err == nil {
		t.Error("a server that does not run counts as alive")
	}
	pod.Home.Start()
	if err := Run(t.Context(), o); err != nil {
		t.Errorf("expected the server to be alive, got %v", err)
	}
}

// answering starts a listener that sends each client the same response, and returns its port.
func answering(t *testing.T, text string) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, text)
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

func TestEveryAnswerIsAlive(t *testing.T) {
	for text, lives := range map[string]bool{
		"+PONG\r\n": true,
		"-LOADING Redis is loading the dataset\r\n": true,
		"-BUSY Redis is busy running a script\r\n":  true,
		"-MASTERDOWN Link with MASTER is down\r\n":  true,
		"":                 false,
		"HTTP/1.1 200\r\n": false,
	} {
		err := Run(t.Context(), Options{Port: answering(t, text), Timeout: time.Second})
		if (err == nil) != lives {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAPortIsNeeded(t *testing.T) {
	for _, args := range [][]string{nil, {"--port=0"}, {"--port=65536"}, {"--port=6379", "--timeout=0s"}, {"--port=6379", "more"}} {
		if o, err := ParseFlags(args, io.Discard); err == nil {
			t.Errorf("%v: expected a refusal, got %+v", args, o)
		}
	}
}
