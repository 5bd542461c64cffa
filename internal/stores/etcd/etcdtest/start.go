// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// settle has all come about that follows from what runs now.
func (w *World) settle() {
	w.begin()
	for _, c := range w.clusters {
		w.settleOf(c)
	}
}

// begin has processes look for their clusters that have not found them.
func (w *World) begin() {
	for _, p := range w.processes {
		if p.cluster == nil && !p.hung {
			p.cluster, p.id, p.reason = w.start(p.Process)
			w.mayRun(p)
			w.mayRead(p)
		}
	}
}

// settleOf does what one cluster does by itself. A call to it changes nothing of others.
func (w *World) settleOf(c *cluster) {
	w.form(c)
	c.elect(w.voting(c))
	if c.leader == 0 {
		return
	}
	w.publish(c)
	w.agree(c)
	w.snapshot(c)
}

// start finds the cluster of a process and its id there, or says why it does not start.
func (w *World) start(p Process) (*cluster, uint64, string) {
	if data := w.disks[p.Volume]; data != nil {
		m := data.cluster.member(data.id)
		switch {
		case m == nil:
			return nil, 0, "the member has been permanently removed from the cluster"
		case address(m.PeerURLs[0]) != address(p.PeerURL):
			w.violated("%s runs on the volume of member %x, %s", p.Name, m.ID, m.PeerURLs[0])
		}
		data.uncounted = 0 // etcd counts again when it opens its data
		return data.cluster, data.id, ""
	}
	c, reason := w.peers(p)
	if reason != "" {
		return nil, 0, reason
	}
	m := c.byPeerURL(p.PeerURL)
	switch {
	case !p.Existing && m.volume != "" && m.Name != "" && len(w.up(c)) > 0: // etcd: isMemberBootstrapped
		return nil, 0, fmt.Sprintf("member %x has already been bootstrapped", m.ID)
	case m.volume != "" && c.served:
		w.violated("member %s came back with an empty volume", p.Name)
	}
	if m.volume != "" && len(w.up(c)) == 0 {
		c.forget()
	}
	if w.disks == nil {
		w.disks = map[string]*disk{}
	}
	m.volume, w.disks[p.Volume] = p.Volume, &disk{cluster: c, id: m.ID, snapshot: w.sent(c), size: c.data.inUse()}
	w.copies(p, c)
	return c, m.ID, ""
}

// peers is the cluster that a process without data belongs to.
func (w *World) peers(p Process) (*cluster, string) {
	initial := parseInitial(p.InitialCluster)
	if !slices.ContainsFunc(initial, func(m *member) bool { return m.PeerURLs[0] == p.PeerURL }) {
		return nil, "it is not in its own initial cluster"
	}
	if !p.Existing {
		return w.bootstrapping(p.Token, initial), ""
	}
	for _, c := range w.clusters {
		if c.formed && len(w.up(c)) > 0 && c.byPeerURL(p.PeerURL) != nil {
			if !slices.Equal(c.peers(), peers(initial)) {
				return nil, "its initial cluster is not the list of members"
			}
			return c, ""
		}
	}
	return nil, "it cannot fetch the members from its peers"
}

// bootstrapping is the cluster that first members form. All who are told the same ones
// under the same token take part in the same.
func (w *World) bootstrapping(token string, initial []*member) *cluster {
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

// form notes that a quorum of the first members runs, for the first time.
func (w *World) form(c *cluster) {
	if c.formed || len(w.voting(c)) < c.quorum() {
		return
	}
	for _, other := range w.clusters {
		if other != c && other.formed && other.token == c.token {
			w.violated("a second cluster formed under the token %s", c.token)
		}
	}
	c.formed = true
}

// publish has the members that run make themselves known, and serve.
func (w *World) publish(c *cluster) {
	for _, p := range w.up(c) {
		m := c.member(p.id)
		m.Name, m.ClientURLs = p.Name, []string{p.ClientURL}
		if !p.serving {
			c.wrote(p.Version)
		}
		p.serving = true
	}
}

// up are the processes that take part in a cluster.
func (w *World) up(c *cluster) []*process {
	var out []*process
	for _, p := range w.processes {
		if p.cluster == c && !p.hung && c.member(p.id) != nil {
			out = append(out, p)
		}
	}
	return out
}

// voting are the ids of the voters among them.
func (w *World) voting(c *cluster) []uint64 {
	var out []uint64
	for _, p := range w.up(c) {
		if !c.member(p.id).Learner {
			out = append(out, p.id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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
