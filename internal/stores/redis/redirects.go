// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"strconv"
	"strings"
	"time"
)

const (
	// calm is the time without a redirect after which a process is no longer needed to redirect clients: a client that
	// is in use and has an old map is redirected by its next command, and asks for the map then.
	calm = 2 * time.Second
	// Courtesy is the longest time for which an emptied process stays to redirect clients. Clients commonly ask for the
	// whole map every ten seconds. One that never follows a redirect must not keep a pod for ever.
	Courtesy = 15 * time.Second
)

// Redirects reports whether clients may still need the process at an address to redirect them, since slots were moved.
func (v View) Redirects(address string) bool {
	if v.Move == nil || !v.Move.Ended || !v.At.Before(v.Move.EndedAt.Add(Courtesy)) {
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

// countRedirects notes which processes have redirected a client since the look before. A count that cannot be read
// counts as one that rises: the process then stays for all of Courtesy.
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

// redirects reads how often a server answered with MOVED. A server that met too many kinds of errors stops counting
// them by kind, and says so by a kind whose name begins with ERRORSTATS_ (server.c, incrementErrorCount).
func redirects(info map[string]string) int64 {
	for key := range info {
		if strings.HasPrefix(key, "errorstat_ERRORSTATS_") {
			return -1
		}
	}
	count, known := strings.CutPrefix(info["errorstat_MOVED"], "count=")
	if !known {
		return 0
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
