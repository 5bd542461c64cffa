// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// remember has processes that do not answer keep whom they copied when they last did: one that is only cut off still
// does. It ends with the process, as far as that is seen here: it answers with another RunID, or is no target any more.
// Of a new source it is not known whose address that is.
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
