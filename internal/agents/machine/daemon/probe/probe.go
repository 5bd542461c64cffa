// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe measures which contacts a node has: it connects to peers, other nodes, and asks the API server. It does
// not judge the result (package contact).
package probe

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/contact"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// peerTime is how long a connection to a peer may take.
const peerTime = 3 * time.Second

// Probe measures contacts.
type Probe struct {
	// API reports whether the API server answers.
	API func(ctx context.Context) bool
	// Dial connects to an address.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// New returns a Probe that uses the network of this machine. Each measurement makes new connections to peers.
func New(api func(ctx context.Context) bool) *Probe {
	return &Probe{api, (&net.Dialer{Timeout: peerTime}).DialContext}
}

// Contacts measures all contacts at the same time. Peers are in the order in which they were given.
func (p *Probe) Contacts(ctx context.Context, peers []machineorder.Peer) contact.Contacts {
	var out contact.Contacts
	var all sync.WaitGroup
	all.Go(func() { out.API = p.API(ctx) })
	reached := make([]bool, len(peers))
	for i, peer := range peers {
		all.Go(func() { reached[i] = p.reaches(ctx, peer.Address) })
	}
	all.Wait()
	for i, peer := range peers {
		if reached[i] {
			out.Peers = append(out.Peers, peer.Name)
		}
	}
	return out
}

func (p *Probe) reaches(ctx context.Context, address string) bool {
	conn, err := p.Dial(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
