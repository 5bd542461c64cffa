// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redis knows Redis and Valkey clusters: a View is what one look at all servers of a cluster showed, a Step is one change
// of a cluster, and a Prober looks at many clusters, each at its own pace, carries out steps and moves slots in the background.
// A step takes at most two seconds and may be repeated.
//
// Package server talks to one server, and package reshard moves slots: their types have names here too. Nothing here knows pods,
// claims or objects of Kubernetes. Package ring decides what to do next, from a View.
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

// DialThrough returns a Dialer for real clusters whose connections another dialer opens; nil is the network of this process.
func DialThrough(through ContextDialer) Dialer { return server.DialThrough(through) }

// SlotsOf sorts numbers of slots into ranges.
func SlotsOf(numbers ...int) Slots { return server.SlotsOf(numbers...) }

// ParseSlots reads ranges with commas between them, such as 0-5460,7000, in any order.
func ParseSlots(text string) (Slots, error) { return server.ParseSlots(text) }

// AccessDenied reports whether an error says that a server refused the user, or what the user asked for.
func AccessDenied(err error) bool { return server.AccessDenied(err) }
