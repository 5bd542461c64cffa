// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "time"

const (
	// calm is the time without a redirect after which a process is no longer needed to redirect clients. The next command
	// of a client with an old slot map is redirected, and the client then requests a new map.
	calm = 2 * time.Second
	// RedirectGrace limits how long an emptied process stays to redirect clients. Clients commonly refresh their map every
	// ten seconds, and a client that never follows redirects must not keep a pod for ever.
	RedirectGrace = 15 * time.Second
)

// Redirects reports whether clients may still need the process at an address to redirect them after a move of slots.
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

// redirecting reports whether any process may still be needed to redirect clients.
func (v View) redirecting() bool {
	for address := range v.Nodes {
		if v.Redirects(address) {
			return true
		}
	}
	return false
}

// countRedirects records which processes have redirected a client since the previous read. A count that cannot be read
// is treated as rising, so that the process is kept for all of RedirectGrace.
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
