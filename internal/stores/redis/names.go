// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redis reads and changes Redis and Valkey clusters. A View is the result of one read of all servers of a
// cluster. A Step is one change, which takes at most two seconds and may be repeated. A Prober reads many clusters
// periodically, executes steps, and moves slots in the background.
//
// Package server talks to one server, and package reshard moves slots. This package re-exports their types. It knows no
// Kubernetes objects, such as pods or claims. Package ring decides from a View what to do next.
package redis

import (
	"github.com/opcrew/opcrew/internal/stores/redis/reshard"
	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// Types for servers and connections to them.
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

// Types for what a server reports.
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

// Values of the types Place, Role and Fill, and the number of slots of a cluster.
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

// Types for moving slots.
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

// Errors of slot moves.
var (
	ErrMoving = reshard.ErrMoving
	ErrNoJobs = reshard.ErrNoJobs
)

// Dial opens connections to a real cluster.
func Dial(target Target) (Store, error) { return server.Dial(target) }

// DialThrough returns a Dialer for real clusters that opens its connections with the dialer through, such as a dialer
// for a pod network. If through is nil, the Dialer uses this process's own network.
func DialThrough(through ContextDialer) Dialer { return server.DialThrough(through) }

// SlotsOf returns slot numbers as sorted ranges.
func SlotsOf(numbers ...int) Slots { return server.SlotsOf(numbers...) }

// ParseSlots parses comma-separated ranges of slots, such as 0-5460,7000, in any order.
func ParseSlots(text string) (Slots, error) { return server.ParseSlots(text) }

// AccessDenied reports whether an error says that a server refused the operator's user or denied it a command.
func AccessDenied(err error) bool { return server.AccessDenied(err) }
