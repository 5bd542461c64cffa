// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// settle starts new processes, and updates every cluster after a change of its processes.
func (w *World) settle() {
	w.begin()
	for _, c := range w.clusters {
		settleOf(w, c)
	}
}

// begin lets each process that has no cluster yet find and join its cluster.
func (w *World) begin() {
	for _, p := range w.processes {
		if p.cluster == nil && !p.hung {
			p.cluster, p.id, p.reason = start(w, p.Process)
			mayRun(w, p)
			mayRead(w, p)
		}
	}
}

// settleOf makes one cluster do what its members do by themselves: form, elect a leader, publish names, agree on the
// version and write snapshots.
func settleOf(w *World, c *cluster) {
	form(w, c)
	c.elect(w.processes.voting(c))
	if c.leader == 0 {
		return
	}
	publish(w, c)
	agree(w, c)
	snapshot(w, c)
}

// start returns the cluster and the member ID of a process that starts, or the reason why it cannot start.
func start(w *World, p Process) (*cluster, uint64, string) {
	if data := w.disks[p.Volume]; data != nil {
		m := data.cluster.member(data.id)
		switch {
		case m == nil:
			return nil, 0, "the member has been permanently removed from the cluster"
		case address(m.PeerURLs[0]) != address(p.PeerURL):
			w.violated("%s runs on the volume of member %x, %s", p.Name, m.ID, m.PeerURLs[0])
		}
		data.uncounted = 0 // etcd computes the size again when it opens its database
		return data.cluster, data.id, ""
	}
	c, reason := clusterOf(w, p)
	if reason != "" {
		return nil, 0, reason
	}
	m := c.byPeerURL(p.PeerURL)
	switch {
	// etcd makes the same check in isMemberBootstrapped.
	case !p.Existing && m.volume != "" && m.Name != "" && len(w.processes.up(c)) > 0:
		return nil, 0, fmt.Sprintf("member %x has already been bootstrapped", m.ID)
	case m.volume != "" && c.served:
		w.violated("member %s came back with an empty volume", p.Name)
	}
	if m.volume != "" && len(w.processes.up(c)) == 0 {
		c.forget()
	}
	if w.disks == nil {
		w.disks = map[string]*disk{}
	}
	m.volume, w.disks[p.Volume] = p.Volume, &disk{cluster: c, id: m.ID, snapshot: sent(w, c), size: c.data.inUse()}
	copies(w, p, c)
	return c, m.ID, ""
}

// clusterOf returns the cluster that a process without data joins, or the reason why it cannot start.
func clusterOf(w *World, p Process) (*cluster, string) {
	initial := parseInitial(p.InitialCluster)
	if !slices.ContainsFunc(initial, func(m *member) bool { return m.PeerURLs[0] == p.PeerURL }) {
		return nil, "it is not in its own initial cluster"
	}
	if !p.Existing {
		return bootstrapping(w, p.Token, initial), ""
	}
	for _, c := range w.clusters {
		if c.formed && len(w.processes.up(c)) > 0 && c.byPeerURL(p.PeerURL) != nil {
			if !slices.Equal(c.peers(), peers(initial)) {
				return nil, "its initial cluster is not the list of members"
			}
			return c, ""
		}
	}
	return nil, "it cannot fetch the members from its peers"
}

// bootstrapping returns the cluster that new initial members form. Processes with the same initial members and the same
// token belong to the same cluster.
func bootstrapping(w *World, token string, initial []*member) *cluster {
	for _, c := range w.clusters {
		if c.token == token && slices.Equal(c.initial, peers(initial)) {
			return c
		}
	}
	c := &cluster{token: token, initial: peers(initial), members: initial, removed: map[uint64]bool{}}
	for _, m := range initial {
		m.ID = etcd.BootstrapID(m.PeerURLs, token)
	}
	c.id = clusterID(initial)
	w.clusters = append(w.clusters, c)
	return c
}

// form marks a cluster as formed when a quorum of its initial members runs for the first time.
func form(w *World, c *cluster) {
	if c.formed || len(w.processes.voting(c)) < c.quorum() {
		return
	}
	for _, other := range w.clusters {
		if other != c && other.formed && other.token == c.token {
			w.violated("a second cluster formed under the token %s", c.token)
		}
	}
	c.formed = true
}

// publish makes the running members publish their names and URLs, and serve clients.
func publish(w *World, c *cluster) {
	for _, p := range w.processes.up(c) {
		m := c.member(p.id)
		m.Name, m.ClientURLs = p.Name, []string{cmp.Or(p.published, p.ClientURL)}
		if !p.serving {
			c.wrote(p.Version)
		}
		p.serving = true
	}
}

func parseInitial(flag string) []*member {
	var out []*member
	for part := range strings.SplitSeq(flag, ",") {
		if name, url, ok := strings.Cut(part, "="); ok {
			out = append(out, &member{Member: etcd.Member{Name: name, PeerURLs: []string{url}}})
		}
	}
	return out
}
