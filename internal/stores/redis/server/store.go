// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server is the client of one server of a Redis cluster: it connects, sends commands and reads the status of the server.
// What a status means for the cluster belongs to package redis, and what is done about it to package ring.
package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
)

// Place is one of the two places for a process in every pod of a cluster.
type Place string

const (
	// Home is the place of the primary of the pod's own shard.
	Home Place = "home"
	// Guest is the place of the replica of another pod's shard.
	Guest Place = "guest"
)

// Node is a process of a cluster.
type Node struct {
	// Address is where clients reach it, as host:port; the host is an IP address.
	Address string
	// Pod is the ordinal of its pod.
	Pod   int
	Place Place
}

// Credentials are those of the operator's own user.
type Credentials struct {
	User, Password string
	// TLS is nil for connections without encryption.
	TLS *tls.Config
}

// Target is how to reach a cluster.
type Target struct {
	// Nodes are the processes that have an address. Another order counts as a change, which dials again.
	Nodes       []Node
	Credentials Credentials
	// Generation changes with the credentials, which dials again.
	Generation string
}

// Addresses are those of the target's processes.
func (t Target) Addresses() []string {
	out := make([]string, len(t.Nodes))
	for i, node := range t.Nodes {
		out[i] = node.Address
	}
	return out
}

// own fails for an address at which the controller has seen no process: servers report where others are, and must not send the
// operator elsewhere. A target without processes leaves addresses to its caller.
func (t Target) own(address string) error {
	if len(t.Nodes) == 0 || slices.Contains(t.Addresses(), address) {
		return nil
	}
	return fmt.Errorf("opcrew does not connect to %.100q: that is not the address of a pod of this cluster", address)
}

// Store is an open connection to the processes of one cluster. It is safe for concurrent use.
type Store interface {
	// Status asks the process at an address for its status.
	Status(ctx context.Context, address string) (NodeStatus, error)
	// Do sends commands to the process at an address in one round trip, and returns their answers. It fails with the first
	// command that failed; later ones may have been carried out. After an error other than a Refusal it is not known which
	// were.
	Do(ctx context.Context, address string, commands ...Command) ([]any, error)
	// Credentials are those with which processes can reach each other.
	Credentials() Credentials
	// Close ends the connections. Calls under way fail.
	Close() error
}

// Command is a command with its arguments.
type Command []any

// ClusterCommand is a CLUSTER command.
func ClusterCommand(words ...any) Command { return append(Command{"CLUSTER"}, words...) }

// Dialer opens the store of a cluster without waiting: the first call shows whether a process answers.
type Dialer func(Target) (Store, error)

// Confirm fails if the process at an address has another ID than expected.
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
