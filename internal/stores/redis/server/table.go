// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"maps"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// table is the parsed output of CLUSTER NODES.
type table struct {
	peers                []Peer
	migrating, importing map[int]string
}

// parseNodes parses the output of CLUSTER NODES. It returns an error if the output lists a moving slot in an unknown
// format, because opcrew must not decide without knowing about that move.
func parseNodes(text string) (table, error) {
	nodes, err := clusternodes.Parse(text)
	if err != nil {
		return table{}, err
	}
	out := table{migrating: map[int]string{}, importing: map[int]string{}}
	for _, node := range nodes {
		if len(node.Unreadable) > 0 {
			return table{}, fmt.Errorf("CLUSTER NODES has a moving slot in an unknown format: %.100q", node.Unreadable[0])
		}
		maps.Copy(out.migrating, node.Migrating)
		maps.Copy(out.importing, node.Importing)
		out.peers = append(out.peers, peerOf(node))
	}
	return out, nil
}

func peerOf(node clusternodes.Node) Peer {
	peer := Peer{
		ID: node.ID, Address: node.Address, Hostname: node.Hostname, Role: Primary, Connected: node.Linked, ConfigEpoch: node.Epoch,
		Myself: node.Is("myself"), Handshake: node.Is("handshake"), Failing: node.Is("fail?"), Failed: node.Is("fail"),
	}
	if strings.HasPrefix(node.Address, ":") {
		peer.Address = "" // the table lists no address
	}
	if node.Is("slave") {
		peer.Role, peer.PrimaryID = Replica, node.Primary
	}
	ranges := make([]SlotRange, 0, len(node.Slots))
	for _, slots := range node.Slots {
		ranges = append(ranges, SlotRange(slots))
	}
	peer.Slots = joined(ranges)
	return peer
}
