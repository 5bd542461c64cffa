// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// row describes one server on the status page.
type row struct {
	pod, place, role, slots, of string
	keys, memory, limit, lag    string // empty if unknown
	troubles                    []string
}

// ring is the input for the rows of the status page: all servers of the cluster.
type ring struct {
	nodes       []clusternodes.Node
	numbers     map[string]numbers // metrics of each pod, by host
	home, guest int                // ports of the primary (home) and the replica (guest) in each pod
}

// hosts returns the hosts of all agents.
func (r ring) hosts() []string {
	var out []string
	for _, node := range r.nodes {
		if host, _, err := net.SplitHostPort(node.Address); err == nil && host != "" {
			out = append(out, host)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r ring) rows() []row {
	var out []row
	for _, node := range r.nodes {
		out = append(out, r.row(node))
	}
	slices.SortFunc(out, func(a, b row) int {
		return cmp.Or(cmp.Compare(len(a.pod), len(b.pod)), cmp.Compare(a.pod, b.pod), cmp.Compare(b.place, a.place))
	})
	return out
}

func (r ring) row(n clusternodes.Node) row {
	host, _, _ := net.SplitHostPort(n.Address)
	place := r.place(n)
	out := row{pod: podOf(n), place: place, role: "replica", slots: slotsOf(n), troubles: troubles(n)}
	if n.Is("master") {
		out.role = "primary"
	}
	if leader, found := r.find(n.Primary); found {
		out.of = podOf(leader) + " " + r.place(leader)
		out.lag = r.lag(n, leader)
	}
	out.keys = shown(r.numbers[host].of(keysMetric, place))
	out.memory, out.limit = size(r.numbers[host].of(memoryMetric, place)), size(r.numbers[host].of(maxMetric, place))
	return out
}

// place returns which of the two servers of a pod this is: home or guest. Each place has the same port in all pods. A
// failover changes the role of a server, but not its place.
func (r ring) place(n clusternodes.Node) string {
	_, port, _ := net.SplitHostPort(n.Address)
	switch port {
	case strconv.Itoa(r.home):
		return "home"
	case strconv.Itoa(r.guest):
		return "guest"
	}
	return ""
}

func (r ring) find(id string) (clusternodes.Node, bool) {
	i := slices.IndexFunc(r.nodes, func(n clusternodes.Node) bool { return n.ID == id })
	if i < 0 {
		return clusternodes.Node{}, false
	}
	return r.nodes[i], true
}

func (r ring) lag(replica, leader clusternodes.Node) string {
	host, _, _ := net.SplitHostPort(leader.Address)
	return size(r.numbers[host].lag(r.place(leader), replica.Address))
}

// podOf returns the name of a node's pod: the first label of its DNS name, or otherwise its address.
func podOf(n clusternodes.Node) string {
	pod, _, _ := strings.Cut(n.Hostname, ".")
	return cmp.Or(pod, n.Address)
}

func slotsOf(n clusternodes.Node) string {
	var out []string
	for _, slots := range n.Slots {
		out = append(out, slots.String())
	}
	return strings.Join(out, ", ")
}

// troubles returns the problems of a node that its flags in the node table show.
func troubles(n clusternodes.Node) []string {
	words := map[string]string{"fail": "failed", "fail?": "may have failed", "handshake": "is in the handshake with this server", "noaddr": "has no address"}
	var out []string
	for _, flag := range n.Flags {
		if word, known := words[flag]; known {
			out = append(out, word)
		}
	}
	if !n.Linked && !n.Is("myself") && len(out) == 0 {
		out = append(out, "not connected")
	}
	return out
}

func shown(value float64, known bool) string {
	if !known {
		return ""
	}
	return decimal(value)
}

// size formats a number of bytes in a unit that needs at most four digits.
func size(bytes float64, known bool) string {
	const step = 1024
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	if !known {
		return ""
	}
	i := 0
	for ; bytes >= step && i < len(units)-1; i++ {
		bytes /= step
	}
	return strconv.FormatFloat(bytes, 'f', min(i, 1), 64) + " " + units[i]
}
