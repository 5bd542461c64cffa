// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// remember keeps, for each process that does not answer, which process it copied when it last answered, as it may only
// be cut off and still copy that process. The record ends when the process answers with another RunID, or is no longer
// a target.
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
