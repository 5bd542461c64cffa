// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "time"

const (
	// calm is the time without redirects after which a server that lost its slots is no longer needed. A client with an
	// old slot map is redirected with its next command, and then requests a new map.
	calm = 2 * time.Second
	// RedirectGrace limits how long a server without slots stays to redirect clients. Most clients refresh their slot
	// map every ten seconds. A client that never follows redirects must not keep a pod forever.
	RedirectGrace = 15 * time.Second
)

// Redirects reports whether clients may still need the server at an address to redirect them after a slot move.
func (v View) Redirects(address string) bool {
	if v.Move == nil || !v.Move.Ended || !v.At.Before(v.Move.EndedAt.Add(RedirectGrace)) {
		return false
	}
	last := v.Move.EndedAt
	if at := v.Nodes[address].Redirected; at.After(last) {
		last = at
	}
	return v.At.Before(last.Add(calm))
}

// redirecting reports whether clients may still need any server to redirect them.
func (v View) redirecting() bool {
	for address := range v.Nodes {
		if v.Redirects(address) {
			return true
		}
	}
	return false
}

// countRedirects records which servers have redirected clients since the previous read. If a count cannot be read, it
// is assumed to rise, so that the server stays for all of RedirectGrace.
func (l *looker) countRedirects(at time.Time, target Target, nodes map[string]NodeStatus) {
	for _, node := range target.Nodes {
		status, last := nodes[node.Address], l.last[node]
		switch {
		case status.Err != nil:
			status.Redirects, status.Redirected = last.Redirects, last.Redirected
		case status.Redirects < 0 || status.Redirects != last.Redirects:
			status.Redirected = at
		default:
			status.Redirected = last.Redirected
		}
		nodes[node.Address] = status
	}
}
