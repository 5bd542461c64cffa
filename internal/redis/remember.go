// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

// remember has processes that do not answer be what they last were, as far as who they are and whom they copy: one that
// is only cut off still is, and does. It ends with the process, as far as is known: it starts again, or the target has
// nobody at its address.
func (c *cluster) remember(nodes map[string]NodeStatus) {
	for address, status := range nodes {
		last := c.last[address]
		if status.Answers() || last.RunID == "" || status.RunID != "" && status.RunID != last.RunID {
			continue
		}
		status.RunID, status.Role, status.PrimaryID = last.RunID, last.Role, last.PrimaryID
		if status.Source == "" {
			status.Source = last.Source
		}
		nodes[address] = status
	}
	c.last = nodes
}
