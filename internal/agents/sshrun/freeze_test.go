// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
)

// freezer forwards connections to a machine until it is frozen. Then it forwards nothing, and closes nothing.
type freezer struct {
	net.Listener
	frozen atomic.Bool
}

func (f *freezer) freeze() { f.frozen.Store(true) }

func freezable(t *testing.T, m *machine) *freezer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	f := &freezer{Listener: listener}
	target := m.listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", target)
			if err != nil {
				return
			}
			go f.forward(conn, back)
			go f.forward(back, conn)
		}
	}()
	return f
}

func (f *freezer) forward(to io.Writer, from io.Reader) {
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if !f.frozen.Load() {
			_, _ = to.Write(buffer[:n])
		}
	}
}
