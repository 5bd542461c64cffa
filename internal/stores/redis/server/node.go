// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

// Role is the role of a server in its cluster.
type Role string

const (
	// Primary is a server that may own slots, whether or not it does.
	Primary Role = "primary"
	// Replica is a server that follows a primary.
	Replica Role = "replica"
)

// NodeStatus is what one server reports about itself and about the other servers that it knows.
type NodeStatus struct {
	// Err explains why the server could not be read. In this case, only RunID, Source and PrimaryID are known, from the
	// last answer. They are kept because a server that cannot be reached may still run.
	Err error
	// Loading reports that the server is loading its data from disk or from its primary. Then only RunID, Version,
	// Source and the memory are known, and PrimaryID if it was read together with Source.
	Loading bool

	// ID identifies the server in the cluster. It stays the same while the server keeps its data directory. RunID
	// changes with every start.
	ID, RunID string
	Version   Version
	Role      Role
	// PrimaryID is the ID of a replica's primary. LinkUp reports that the replica is connected to its primary, and that
	// the synchronization after connecting is complete.
	PrimaryID string
	LinkUp    bool
	// Past describes what a replica was before it followed its primary.
	Past elections.Past
	// Unlinked reports that a replica has not been connected to its primary since it started. Its data is what it read
	// from disk, and it does not request votes by itself.
	Unlinked bool
	// Source is the address that a replica copies: its primary's address, as far as it knows. Servers do not check
	// which server has that address.
	Source string
	// NotAdmitted reports that no replica may copy this server yet: see Admit.
	NotAdmitted bool
	// Offset is the server's position in the stream of writes, in bytes: how much it has written or received.
	Offset int64
	// Slots are the slots that the server claims. A replica claims none.
	Slots                     Slots
	ConfigEpoch, CurrentEpoch uint64
	// Known holds all servers in this server's node table, including itself.
	Known []Peer
	// Migrating and Importing hold the slots that are being moved, with the ID of the server at the other end.
	Migrating, Importing map[int]string
	// Jobs are the running slot migration jobs from or to this server, if it is a primary.
	Jobs []Job
	// ClusterOK reports whether the server considers the cluster up: it has reached a majority of the primaries for 2
	// seconds (CLUSTER_WRITABLE_DELAY). Otherwise it refuses all clients.
	ClusterOK bool
	// Keys is the number of keys. UsedMemory is the used memory in bytes, and Dataset the part for data. MaxMemory is
	// the limit; 0 means no limit.
	Keys                           int64
	UsedMemory, Dataset, MaxMemory int64
	// Evicts reports that the server evicts any keys when its memory is full: its maxmemory-policy is one of allkeys-*.
	Evicts bool
	// LogFails reports that the server cannot write its append-only file, for example because the disk is full. A
	// primary then refuses writes (MISCONF).
	LogFails bool
	// Redirects counts the MOVED answers to clients since the server started; negative if the count is not known.
	// Redirected is when the count last changed; zero if it has not.
	Redirects  int64
	Redirected time.Time
}

// Answers reports whether the server answers and is not loading. Its status is then complete.
func (s NodeStatus) Answers() bool { return s.Err == nil && !s.Loading && s.ID != "" }

// Leads reports whether the server is a primary that owns slots.
func (s NodeStatus) Leads() bool { return s.Answers() && s.Role == Primary && len(s.Slots) > 0 }

// ReachablePrimaries returns how many primaries with slots the server knows (all), and how many of these it can reach,
// including itself (of). A server that reaches too few considers the cluster down (cluster.c, clusterUpdateState).
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

// HasCopy reports whether the server is a replica with data of its primary: all of it, or what it read from disk.
func (s NodeStatus) HasCopy() bool {
	return s.Answers() && s.Role == Replica && (!s.Unlinked || s.Keys > 0)
}

// Fresh reports whether the server has never been in a cluster, or has been reset. It knows no other server, claims no
// slot and has no key.
func (s NodeStatus) Fresh() bool {
	return s.Answers() && s.Role == Primary && len(s.Known) == 1 && len(s.Slots) == 0 && s.Keys == 0
}

// Peer returns a server from this server's node table, by ID.
func (s NodeStatus) Peer(id string) (Peer, bool) {
	if i := slices.IndexFunc(s.Known, func(p Peer) bool { return p.ID == id }); i >= 0 {
		return s.Known[i], true
	}
	return Peer{}, false
}

// Peer is one line in the node table of a server.
type Peer struct {
	ID string
	// Address is host:port, or "" if it is not known. Hostname is the name that the server announces, if any.
	Address, Hostname string
	Role              Role
	PrimaryID         string
	// Myself reports that the line describes the server that printed the table.
	Myself bool
	// Handshake reports that the server is being introduced. Its ID will change.
	Handshake bool
	// Failing reports that the server did not answer the owner of the table in time. Failed reports that a majority of
	// the primaries agrees.
	Failing, Failed bool
	// Connected reports whether the link to the server is up.
	Connected   bool
	ConfigEpoch uint64
	Slots       Slots
}

// Version is the version of a server.
type Version struct {
	// Number is the version number of Redis or Valkey, such as 7.0.15 or 8.1.4.
	Number string
	// Valkey reports that the server is Valkey, not Redis.
	Valkey bool
}
