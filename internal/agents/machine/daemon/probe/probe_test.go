// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func TestAllContactsAreMeasured(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	peers := []machineorder.Peer{{Name: "b", Address: listener.Addr().String()}, {Name: "gone", Address: closed.Addr().String()}, {Name: "a", Address: listener.Addr().String()}}
	for _, api := range []bool{true, false} {
		got := New(func(context.Context) bool { return api }).Contacts(t.Context(), peers)
		if got.API != api || !slices.Equal(got.Peers, []string{"b", "a"}) {
			t.Errorf("expected the API server: %v, and the peers that answer in their order, got %+v", api, got)
		}
	}
}

func TestANodeWithoutANetworkHasNoContact(t *testing.T) {
	p := &Probe{func(context.Context) bool { return false }, func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }}
	if got := p.Contacts(t.Context(), []machineorder.Peer{{Name: "a"}}); got.API || len(got.Peers) > 0 {
		t.Errorf("expected no contact, got %+v", got)
	}
}
