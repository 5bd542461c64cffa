// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// remember keeps, for each server that does not answer, the address from which that server last copied. The silent
// server may still run, and copy from that address. The entry is removed when the server restarts or is no longer read.
func (l *looker) remember(target Target, nodes map[string]NodeStatus) {
	now := map[Node]NodeStatus{}
	for _, node := range target.Nodes {
		status, last := nodes[node.Address], l.last[node]
		if !status.Answers() && last.RunID != "" && (status.RunID == "" || status.RunID == last.RunID) {
			status.RunID = last.RunID
			if status.Source == "" || status.Source == last.Source {
				status.Source, status.PrimaryID = last.Source, last.PrimaryID
			}
			nodes[node.Address] = status
		}
		now[node] = status
	}
	l.last = now
}
