// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// Role is the role of a process.
type Role string

const (
	// Primary is a process that may own slots, whether or not it does.
	Primary Role = "primary"
	// Replica is a process that follows a primary.
	Replica Role = "replica"
)

// NodeStatus is what one process reports about itself and the others that it knows.
type NodeStatus struct {
	// Err is why it could not be asked. Then only RunID, Source and PrimaryID are known, from its last answer: a process that
	// is cut off goes on.
	Err error
	// Loading reports that it loads its data from disk or from its primary. Then only RunID, Version, Source and the memory are
	// known, and PrimaryID if it was known with the source.
	Loading bool

	// ID is its name in the cluster, for as long as it keeps its folder; RunID changes with every start.
	ID, RunID string
	Version   Version
	Role      Role
	// PrimaryID is the primary of a replica. LinkUp reports that the replica is connected and has received all data since it
	// connected.
	PrimaryID string
	LinkUp    bool
	// Past is what a replica was before it followed.
	Past elections.Past
	// Unlinked reports that a replica has not been connected to its primary since it started: its data is what it read from
	// disk, and it does not ask for votes by itself.
	Unlinked bool
	// Source is the address that a replica copies: that of its primary, as far as it knows. Servers do not check who is there.
	Source string
	// NotAdmitted reports that no replica may copy the process yet: see Admit.
	NotAdmitted bool
	// Offset is the position in the stream of writes that it has written or received, in bytes.
	Offset int64
	// Slots are those that it claims for itself. A replica claims none.
	Slots                     Slots
	ConfigEpoch, CurrentEpoch uint64
	// Known are all processes in its table, including itself.
	Known []Peer
	// Migrating and Importing are its open slots, and the ID of the other end.
	Migrating, Importing map[int]string
	// Jobs are the running jobs whose source or target it is, as a primary.
	Jobs []Job
	// ClusterOK reports whether it considers the cluster up: as far as it knows a majority of the primaries has been there
	// for 2 seconds (CLUSTER_WRITABLE_DELAY). Else it refuses all clients.
	ClusterOK bool
	// Keys is the number of its keys; UsedMemory and Dataset are bytes, with and without its own needs; MaxMemory is 0 for no
	// limit.
	Keys                           int64
	UsedMemory, Dataset, MaxMemory int64
	// Evicts reports that it evicts any keys when it is full: its maxmemory-policy is one of allkeys-*.
	Evicts bool
	// LogFails reports that it cannot write its log, as on a full disk. A primary then refuses writes (MISCONF).
	LogFails bool
	// Redirects counts the MOVED answers to clients since it started; negative if that is not known. Redirected is when a look
	// last saw the count change; zero if none did.
	Redirects  int64
	Redirected time.Time
}

// Answers reports whether the process serves: its status is then complete.
func (s NodeStatus) Answers() bool { return s.Err == nil && !s.Loading && s.ID != "" }

// Leads reports whether it serves slots.
func (s NodeStatus) Leads() bool { return s.Answers() && s.Role == Primary && len(s.Slots) > 0 }

// ReachablePrimaries counts the primaries with slots in its table, and those of them that it can reach, including itself. A process that
// reaches too few considers the cluster down (cluster.c, clusterUpdateState).
func (s NodeStatus) ReachablePrimaries() (of, all int) {
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

// HasCopy reports whether it is a replica with data of its primary: all of it, or what it read from disk.
func (s NodeStatus) HasCopy() bool {
	return s.Answers() && s.Role == Replica && (!s.Unlinked || s.Keys > 0)
}

// Fresh reports whether it has never been in a cluster, or has been reset: it knows no other process, claims no slot and has no
// key.
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

// Peer is a line in the table of a process.
type Peer struct {
	ID string
	// Address is host:port, or ""; Hostname is the name that it announces, if any.
	Address, Hostname string
	Role              Role
	PrimaryID         string
	// Myself is the line of the process itself.
	Myself bool
	// Handshake reports that it is being introduced: its ID will change.
	Handshake bool
	// Failing reports that it did not answer this process in time; Failed, that a majority of the primaries agrees.
	Failing, Failed bool
	// Connected reports whether the link to it is up.
	Connected   bool
	ConfigEpoch uint64
	Slots       Slots
}

// Version is the version of a server.
type Version struct {
	// Number is that of the server itself, such as 7.0.15 or, of Valkey, 8.1.4.
	Number string
	// Valkey reports that it is Valkey, not Redis.
	Valkey bool
}
