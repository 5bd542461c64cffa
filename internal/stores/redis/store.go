// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redis is what the operator knows of Redis and Valkey clusters and does to them
// over their own protocol. A Store is a connection to the processes of one cluster. A
// Prober looks at many clusters, each at its own pace, says when something that matters
// has changed, and moves slots in the background. A Step is one change of a cluster that
// is over within two seconds and may be repeated.
//
// Nothing here knows pods, claims or objects of Kubernetes, and nothing here decides: what
// is to be done next is decided by package ring, from a View.
package redis

import (
	"context"
	"crypto/tls"
)

// Place is one of the two that every pod of a cluster has for a process.
type Place string

const (
	// Home is the place of the primary of the pod's own shard.
	Home Place = "home"
	// Guest is the place of the replica of another pod's shard.
	Guest Place = "guest"
)

// Node is a process that a cluster has, or shall have.
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
	// TLS is nil where connections are not encrypted.
	TLS *tls.Config
}

// Target is where a cluster is to be reached.
type Target struct {
	// Nodes are the processes that have an address, in one order: to change it dials again.
	Nodes       []Node
	Credentials Credentials
	// Generation changes when the credentials do: then all is dialled again.
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

// Store is the processes of one cluster, for as long as it is open. It may be used by many
// at a time.
type Store interface {
	// Status asks the one process behind an address how it is.
	Status(ctx context.Context, address string) (NodeStatus, error)
	// Do sends commands to the process behind an address, in one round trip, and returns
	// their answers. It fails with the first command that did; later ones may have been
	// carried out. If it fails with anything but a Refusal, no one knows what was.
	Do(ctx context.Context, address string, commands ...Command) ([]any, error)
	// Credentials are those by which processes can reach each other.
	Credentials() Credentials
	// Close ends the connections. Calls under way fail.
	Close() error
}

// Command is one with its arguments.
type Command []any

func clusterCommand(words ...any) Command { return append(Command{"CLUSTER"}, words...) }

// Dialer opens the store of a cluster. It waits for nothing: whether anybody answers is
// seen by the first call.
type Dialer func(Target) (Store, error)
