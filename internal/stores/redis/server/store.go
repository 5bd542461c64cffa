// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server is a client for one server of a Redis cluster. It connects, sends commands and reads the server's
// status. Package redis combines the statuses of all servers, and package ring decides what to do.
package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
)

// Place identifies one of the two servers of a pod: home or guest.
type Place string

const (
	// Home is the server that should be the primary of the pod's own shard.
	Home Place = "home"
	// Guest is the server that should replicate the shard of another pod.
	Guest Place = "guest"
)

// Node identifies a server of a cluster.
type Node struct {
	// Address is the server's address for clients, as host:port. The host is an IP address.
	Address string
	// Pod is the ordinal of the server's pod.
	Pod   int
	Place Place
}

// Credentials are the user and password of the operator.
type Credentials struct {
	User, Password string
	// TLS is nil for connections without encryption.
	TLS *tls.Config
}

// Target describes how to reach the servers of a cluster.
type Target struct {
	// Nodes are the servers that have an address. Any change of this list, even of its order, makes the prober connect
	// again.
	Nodes       []Node
	Credentials Credentials
	// Generation changes with the credentials, and makes the prober connect again.
	Generation string
}

// Addresses returns the addresses of the target's servers.
func (t Target) Addresses() []string {
	out := make([]string, len(t.Nodes))
	for i, node := range t.Nodes {
		out[i] = node.Address
	}
	return out
}

// own returns an error for an address that does not belong to a pod of the cluster. A server may report false
// addresses, and must not direct the operator elsewhere. A target without servers allows every address.
func (t Target) own(address string) error {
	if len(t.Nodes) == 0 || slices.Contains(t.Addresses(), address) {
		return nil
	}
	return fmt.Errorf("opcrew does not connect to %.100q: that is not the address of a pod of this cluster", address)
}

// Store is an open connection to the servers of one cluster. It is safe for concurrent use.
type Store interface {
	// Status reads the status of the server at an address.
	Status(ctx context.Context, address string) (NodeStatus, error)
	// Do sends commands to the server at an address in one round trip, and returns their answers. The error is that of
	// the first failed command; later commands may have been executed. Unless the error is a Refusal, the failed
	// command may have been executed too.
	Do(ctx context.Context, address string, commands ...Command) ([]any, error)
	// Credentials returns the credentials with which servers can reach each other.
	Credentials() Credentials
	// Close closes the connections. Calls in progress fail.
	Close() error
}

// Command is a command with its arguments.
type Command []any

// ClusterCommand returns a CLUSTER command with the given words.
func ClusterCommand(words ...any) Command { return append(Command{"CLUSTER"}, words...) }

// Dialer opens the store of a cluster without connecting. The first call shows whether a server answers.
type Dialer func(Target) (Store, error)

// Confirm returns an error if the server at an address has another ID than expected.
func Confirm(ctx context.Context, store Store, address, id string) error {
	answers, err := store.Do(ctx, address, ClusterCommand("MYID"))
	if err != nil {
		return err
	}
	if now := Text(answers[0]); now != id {
		return fmt.Errorf("the server at %s now has ID %s, not %s", address, now, id)
	}
	return nil
}
