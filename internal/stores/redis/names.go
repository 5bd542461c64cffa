// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redis reads and changes Redis and Valkey clusters. A View holds what one read of all servers of a cluster
// showed, and a Step is one change of a cluster, which takes at most two seconds and may be repeated. A Prober reads
// many clusters, each at its own pace, executes steps, and moves slots in the background.
//
// Package server talks to one server, and package reshard moves slots. Their types have names here too. Package redis
// knows no pods, claims or other Kubernetes objects. From a View, package ring decides what to do next.
package redis

import (
	"github.com/opcrew/opcrew/internal/stores/redis/reshard"
	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// Servers and how to reach them.
type (
	Store         = server.Store
	Dialer        = server.Dialer
	ContextDialer = server.ContextDialer
	Target        = server.Target
	Credentials   = server.Credentials
	Node          = server.Node
	Place         = server.Place
	Command       = server.Command
	Refusal       = server.Refusal
)

// What a server reports.
type (
	NodeStatus = server.NodeStatus
	Role       = server.Role
	Peer       = server.Peer
	Version    = server.Version
	Fill       = server.Fill
	Job        = server.Job
	Slots      = server.Slots
	SlotRange  = server.SlotRange
)

// Values of these types.
const (
	Home       = server.Home
	Guest      = server.Guest
	Primary    = server.Primary
	Replica    = server.Replica
	RoomLeft   = server.RoomLeft
	NearlyFull = server.NearlyFull
	Full       = server.Full
	SlotCount  = server.SlotCount
)

// The move of slots.
type (
	End           = reshard.End
	Move          = reshard.Move
	Progress      = reshard.Progress
	MoveSlots     = reshard.MoveSlots
	StopMove      = reshard.StopMove
	OpenSlots     = reshard.OpenSlots
	CancelMove    = reshard.CancelMove
	CancelJob     = reshard.CancelJob
	LargeKeyError = reshard.LargeKeyError
)

// Errors of a move of slots.
var (
	ErrMoving = reshard.ErrMoving
	ErrNoJobs = reshard.ErrNoJobs
)

// Dial opens the store of a real cluster.
func Dial(target Target) (Store, error) { return server.Dial(target) }

// DialThrough returns a Dialer for real clusters that opens connections with another dialer, such as one for a pod
// network. With nil it uses the network of this process.
func DialThrough(through ContextDialer) Dialer { return server.DialThrough(through) }

// SlotsOf returns numbers of slots as sorted ranges.
func SlotsOf(numbers ...int) Slots { return server.SlotsOf(numbers...) }

// ParseSlots parses comma-separated ranges, such as 0-5460,7000, in any order.
func ParseSlots(text string) (Slots, error) { return server.ParseSlots(text) }

// AccessDenied reports whether an error says that a server refused the user, or denied the user's request.
func AccessDenied(err error) bool { return server.AccessDenied(err) }
