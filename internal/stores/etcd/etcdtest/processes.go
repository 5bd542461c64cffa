// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import "slices"

// process is a running etcd process.
type process struct {
	Process
	cluster *cluster // nil until the process has found or formed its cluster
	id      uint64
	serving bool // whether the process has ever had contact with a quorum
	hung    bool
	busy    bool   // whether the member is being defragmented
	reason  string // why the process cannot start
	// published is the client URL that the process publishes; "" stands for the field ClientURL.
	published string
}

// processes are all running etcd processes.
type processes []*process

func (ps processes) find(name string) *process {
	for _, p := range ps {
		if p.Name == name || p.PeerURL == name {
			return p
		}
	}
	return nil
}

// up returns the running processes of a cluster's members.
func (ps processes) up(c *cluster) []*process {
	var out []*process
	for _, p := range ps {
		if p.cluster == c && !p.hung && c.member(p.id) != nil {
			out = append(out, p)
		}
	}
	return out
}

// voting returns the IDs of the running voters of a cluster.
func (ps processes) voting(c *cluster) []uint64 {
	var out []uint64
	for _, p := range ps.up(c) {
		if !c.member(p.id).Learner {
			out = append(out, p.id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// serving returns the first process that answers at one of the endpoints. If none answers, it reports whether a process
// at one of the endpoints is unresponsive.
func (ps processes) serving(endpoints []string, learners bool) (*process, bool) {
	hung := false
	for _, endpoint := range endpoints {
		for _, p := range ps {
			switch {
			case address(p.ClientURL) != address(endpoint) || !p.serving:
			case p.hung, p.busy:
				hung = true
			case learners || !p.cluster.member(p.id).Learner:
				return p, false
			}
		}
	}
	return nil, hung
}
