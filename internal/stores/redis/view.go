// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// View is what one look at a cluster has shown.
type View struct {
	// At is when the look began: nothing in it is older.
	At time.Time
	// Err says why no one could be asked. No process has a status then.
	Err error
	// Nodes is what each process of the target says, by its address.
	Nodes map[string]NodeStatus
	// Stale reports that a step has been taken since: the next look, which comes at once,
	// shows what came of it.
	Stale bool
	// Passing are slots that changed hands during the look: those who answer have each other for their owners, and
	// no one claims them. The next look shows who has them.
	Passing Slots
	// Move is the move of slots under way, or how the last one has ended; nil if there was
	// none since the prober began to look.
	Move *Progress
}

// Moving reports whether slots are being moved.
func (v View) Moving() bool { return v.Move != nil && !v.Move.Ended }

// Role is that of a process.
type Role string

const (
	// Primary is a process that may own slots, whether or not it does.
	Primary Role = "primary"
	// Replica is a process that follows a primary.
	Replica Role = "replica"
)

// NodeStatus is what one process says of itself, and of the others that it knows.
type NodeStatus struct {
	// Err says why it could not be asked. Nothing else is known then, but RunID, Source and PrimaryID as of when it
	// last answered: who is only cut off goes on.
	Err error
	// Loading reports that it reads its data from disk, or gets all that its primary has. It serves no one then, and of
	// all else only RunID, Version, Source and the memory are known, and PrimaryID if that was known with the source.
	Loading bool

	// ID is what it is called in the cluster, for as long as it keeps its folder; RunID
	// changes with every start.
	ID, RunID string
	Version   Version
	Role      Role
	// PrimaryID is whom a replica follows, and LinkUp reports whether it has got all that
	// the primary had when they connected, and is connected.
	PrimaryID string
	LinkUp    bool
	// Past is what a replica reports what it was before it followed.
	Past elections.Past
	// Unlinked reports that a replica has not been connected to its primary since it was started.
	// What it holds is what it read from disk, and by itself it is not elected.
	Unlinked bool
	// Source is the address that a replica copies: that of its primary, for all that it knows. Servers do not ask who is there.
	Source string
	// Barred reports that no one may copy the process yet: see Admit.
	Barred bool
	// Offset is how much of the stream of writes it has written, or received: in bytes.
	Offset int64
	// Slots are those that it claims for itself. A replica claims none.
	Slots                     Slots
	ConfigEpoch, CurrentEpoch uint64
	// Known are all processes in its table, itself among them.
	Known []Peer
	// Migrating and Importing are the slots it has open: to whom they go, by slot, and
	// from whom they come.
	Migrating, Importing map[int]string
	// Jobs are those that have not ended and that it is an end of, as a primary.
	Jobs []Job
	// ClusterOK reports whether it holds the cluster to be up: a majority of the primaries is there, for all that it
	// knows, and has been for 2 seconds (CLUSTER_WRITABLE_DELAY). Else it answers no client, but for an error.
	ClusterOK bool
	// Keys is how many it holds; UsedMemory and Dataset are bytes, with and without what
	// the process needs for itself; MaxMemory is 0 where there is no limit.
	Keys                           int64
	UsedMemory, Dataset, MaxMemory int64
	// Evicts reports that it drops whichever keys it takes for the least useful to have room for others: its
	// maxmemory-policy is one of allkeys-*.
	Evicts bool
	// LogFails reports that it cannot write what it is asked to its log, as on a full disk. A primary refuses writes then,
	// until it can again (MISCONF).
	LogFails bool
	// Redirects is how many commands of clients it has answered with MOVED since it was started; negative where that is
	// not known. Redirected is when a look last saw the number change; the zero time if none did.
	Redirects  int64
	Redirected time.Time
}

// Fill is how much of the memory that it may use for data a process has used.
type Fill int

// A process that has used all of it refuses writes, or evicts keys, as its maxmemory-policy has it. Between RoomLeft
// and Full it can be either on its way up or down.
const (
	RoomLeft Fill = iota
	NearlyFull
	Full
)

const (
	nearlyFull = 90 // percent
	full       = 98 // what buffers of clients take makes the difference to all of it (evict.c)
)

// Fill tells it in stages, as how much it is changes all the time.
func (s NodeStatus) Fill() Fill {
	switch used := s.UsedMemory; {
	case s.MaxMemory <= 0 || used < s.MaxMemory/100*nearlyFull:
		return RoomLeft
	case used < s.MaxMemory/100*full:
		return NearlyFull
	}
	return Full
}

// Answers reports whether the process serves: its status is then complete.
func (s NodeStatus) Answers() bool { return s.Err == nil && !s.Loading && s.ID != "" }

// Leads reports whether it serves slots.
func (s NodeStatus) Leads() bool { return s.Answers() && s.Role == Primary && len(s.Slots) > 0 }

// Hears counts the primaries that have slots, for all that it knows, and those of them that it hears of, itself among
// both. One that hears of too few holds the cluster to be down (cluster.c, clusterUpdateState).
func (s NodeStatus) Hears() (of, all int) {
	for _, peer := range s.Known {
		if peer.Role != Primary || len(peer.Slots) == 0 {
			continue
		}
		all++
		if !peer.Failing && !peer.Failed {
			of++
		}
	}
	return of, all
}

// HasCopy reports whether it holds what a primary had: a replica that has, or had, all of it, or one
// that read some of it from disk.
func (s NodeStatus) HasCopy() bool {
	return s.Answers() && s.Role == Replica && (!s.Unlinked || s.Keys > 0)
}

// Fresh reports whether it has never been in a cluster, or has been reset: it knows no one,
// claims nothing and holds nothing.
func (s NodeStatus) Fresh() bool {
	return s.Answers() && s.Role == Primary && len(s.Known) == 1 && len(s.Slots) == 0 && s.Keys == 0
}

// Peer finds a process in its table.
func (s NodeStatus) Peer(id string) (Peer, bool) {
	if i := slices.IndexFunc(s.Known, func(p Peer) bool { return p.ID == id }); i >= 0 {
		return s.Known[i], true
	}
	return Peer{}, false
}

// Peer is a line of the table that a process has of the cluster.
type Peer struct {
	ID string
	// Address is host:port, "" if none is known; Hostname is what it announces, if anything.
	Address, Hostname string
	Role              Role
	PrimaryID         string
	// Myself is the line of the process that was asked.
	Myself bool
	// Handshake is one that is being introduced: its ID will be another one.
	Handshake bool
	// Failing is one that did not answer this process in time; Failed, one that a majority
	// of the primaries found so.
	Failing, Failed bool
	// Connected reports whether the link to it is up.
	Connected   bool
	ConfigEpoch uint64
	Slots       Slots
}

// Version is what a process runs.
type Version struct {
	// Number is that of the server itself, such as 7.0.15 or, of Valkey, 8.1.4.
	Number string
	// Valkey reports that it is Valkey, and not Redis.
	Valkey bool
}
