// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// table is what CLUSTER NODES tells.
type table struct {
	peers                []Peer
	migrating, importing map[int]string
}

// parseNodes reads CLUSTER NODES. The line of the process itself has the slots that it has
// open, as [5->-id] and [5-<-id].
func parseNodes(text string) (table, error) {
	out := table{migrating: map[int]string{}, importing: map[int]string{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 8 {
			return table{}, fmt.Errorf("CLUSTER NODES: a line of %d words: %q", len(words), line)
		}
		peer := parsePeer(words)
		for _, word := range words[8:] {
			if err := out.slots(&peer, word); err != nil {
				return table{}, fmt.Errorf("CLUSTER NODES: %w", err)
			}
		}
		out.peers = append(out.peers, peer)
	}
	return out, nil
}

// parsePeer reads the first words of a line: id, address, flags, primary, ping, pong,
// epoch, link.
func parsePeer(words []string) Peer {
	flags := strings.Split(words[2], ",")
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	peer := Peer{
		ID: words[0], Role: Primary, Connected: words[7] == "connected",
		Myself: has("myself"), Handshake: has("handshake"), Failing: has("fail?"), Failed: has("fail"),
	}
	peer.Address, peer.Hostname = parseAddress(words[1])
	if has("slave") {
		peer.Role, peer.PrimaryID = Replica, words[3]
	}
	peer.ConfigEpoch, _ = strconv.ParseUint(words[6], 10, 64) // only told
	return peer
}

// parseAddress reads ip:port@busport and, from 7.0 on, what follows after commas: the
// hostname first.
func parseAddress(word string) (address, hostname string) {
	parts := strings.Split(word, ",")
	address, _, _ = strings.Cut(parts[0], "@")
	if i := strings.LastIndex(address, ":"); i > 0 {
		address = net.JoinHostPort(address[:i], address[i+1:]) // an IPv6 address has no brackets
	} else {
		address = "" // it does not know where it is
	}
	if len(parts) > 1 && !strings.Contains(parts[1], "=") {
		hostname = parts[1]
	}
	return address, hostname
}

func (t *table) slots(peer *Peer, word string) error {
	open, isOpen := strings.CutPrefix(word, "[")
	if !isOpen {
		slots, err := ParseSlot(word)
		peer.Slots = append(peer.Slots, slots)
		return err
	}
	open = strings.TrimSuffix(open, "]")
	for sign, to := range map[string]map[int]string{"->-": t.migrating, "-<-": t.importing} {
		if slot, id, ok := strings.Cut(open, sign); ok {
			number, err := strconv.Atoi(slot)
			to[number] = id
			return err
		}
	}
	return fmt.Errorf("an open slot %q", word)
}
