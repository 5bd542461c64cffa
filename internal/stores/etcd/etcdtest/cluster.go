// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"cmp"
	"crypto/sha1" // etcd computes IDs with SHA-1
	"encoding/binary"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// cluster is one simulated etcd cluster: the state that its members agree on.
type cluster struct {
	id      uint64
	token   string
	initial []string
	formed  bool
	served  bool // whether clients have ever been able to reach the cluster
	members []*member
	removed map[uint64]bool
	leader  uint64 // ID of the leader; 0 without a quorum
	term    uint64
	index   uint64
	// old is the index of the last log entry in the old format, which etcd before 3.6 writes and 3.7 cannot read.
	old     uint64
	changes []string
	// version is the cluster version; "" until all members have run at the same time.
	version string
	// looks counts how often the members have been listed since all of them began to run a newer minor version. In the
	// simulation, this count replaces the time that members need to agree on the cluster version.
	looks int
	// data is the data that all members store. alarms are the raised alarms.
	data   data
	alarms []etcd.Alarm
}

type member struct {
	etcd.Member
	volume string // volume with the member's data; "" until it has started
	looks  int
}

// elect keeps the leader if it runs. Otherwise the running voter with the lowest ID becomes the leader.
func (c *cluster) elect(voting []uint64) {
	switch {
	case !c.formed:
	case len(voting) < c.quorum():
		c.leader = 0
	case !slices.Contains(voting, c.leader):
		c.lead(voting[0])
	}
}

func (c *cluster) lead(id uint64) {
	c.leader = id
	c.term++
	c.index++
}

// forget makes all members count as never started, as in a new cluster.
func (c *cluster) forget() {
	for _, m := range c.members {
		m.Name, m.ClientURLs = "", nil
	}
}

func (c *cluster) voters() []*member {
	return slices.DeleteFunc(slices.Clone(c.members), func(m *member) bool { return m.Learner })
}

func (c *cluster) quorum() int { return quorum(len(c.voters())) }

func quorum(n int) int { return n/2 + 1 }

// started counts the voters that have started. It does not count the member whose ID is except. As in etcd, a member
// has a name once it has started.
func (c *cluster) started(except uint64) int {
	n := 0
	for _, m := range c.voters() {
		if m.Name != "" && m.ID != except {
			n++
		}
	}
	return n
}

func (c *cluster) member(id uint64) *member {
	return c.find(func(m *member) bool { return m.ID == id })
}

func (c *cluster) byPeerURL(url string) *member {
	return c.find(func(m *member) bool { return slices.Contains(m.PeerURLs, url) })
}

func (c *cluster) find(is func(*member) bool) *member {
	if i := slices.IndexFunc(c.members, is); i >= 0 {
		return c.members[i]
	}
	return nil
}

func (c *cluster) list() []etcd.Member {
	out := make([]etcd.Member, 0, len(c.members))
	for _, m := range c.members {
		copied := m.Member
		copied.PeerURLs, copied.ClientURLs = slices.Clone(m.PeerURLs), slices.Clone(m.ClientURLs)
		out = append(out, copied)
	}
	slices.SortFunc(out, func(a, b etcd.Member) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (c *cluster) peers() []string { return peers(c.members) }

// peers returns the peer addresses of members, sorted and with normalized host names, so that two lists can be
// compared.
func peers(members []*member) []string {
	var out []string
	for _, m := range members {
		for _, url := range m.PeerURLs {
			out = append(out, address(url))
		}
	}
	slices.Sort(out)
	return out
}

// address removes the cluster domain from a URL, because DNS resolves the names of pods with and without it.
func address(url string) string { return strings.Replace(url, ".svc.cluster.local:", ".svc:", 1) }

// clusterID computes the ID of a cluster from the IDs of its initial members, as etcd does.
func clusterID(initial []*member) uint64 {
	var ids []uint64
	for _, m := range initial {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	var b []byte
	for _, id := range ids {
		b = binary.BigEndian.AppendUint64(b, id)
	}
	sum := sha1.Sum(b)
	return binary.BigEndian.Uint64(sum[:8])
}
