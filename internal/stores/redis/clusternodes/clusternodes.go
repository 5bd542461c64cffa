// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusternodes parses the table of nodes that a Redis or Valkey server in cluster mode keeps in nodes.conf and
// prints for CLUSTER NODES. It draws no conclusions.
package clusternodes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Node is one line of the table: what a server knows about itself or about another server.
type Node struct {
	ID       string
	Address  string // host and port for clients; the host is empty while it is not known
	Hostname string // as announced; empty if none is
	Flags    []string
	Primary  string // the ID of a replica's primary
	Epoch    uint64 // if two nodes claim a slot, the others believe the one with the greater epoch
	Linked   bool   // whether the link to the node is up
	Slots    []Range
	// Migrating and Importing hold the open slots, with the ID of the other end. Only the server's own line has them.
	// Unreadable holds open slots in an unknown format. They are still owned by the source, and the rest of the table is
	// valid.
	Migrating, Importing map[int]string
	Unreadable           []string
}

// Range is a range of slots. It includes both ends.
type Range struct{ First, Last int }

// LastSlot is the highest slot (cluster specification, "Key distribution model").
const LastSlot = 16383

const (
	// lineFields are the fields before the slots.
	lineFields = 8
	// mostNodes is how many nodes a table may have: Redis recommends up to a thousand.
	mostNodes = 2000
	// mostFields is how many fields a line may have: each slot may be owned, migrating and importing.
	mostFields = lineFields + 3*(LastSlot+1)
	// mostField is the longest field, an address with names and shard.
	mostField = 1 << 10
	// mostSlots is how many slots all nodes may have together. There are LastSlot+1, but a table that a server has yet to
	// compare with those of others can list some of them twice.
	mostSlots = 4 * (LastSlot + 1)
	// mostUnreadable is how many open slots in another form are kept, for a message.
	mostUnreadable = 16
)

// Is reports whether a node has a flag, such as myself, master, slave, fail or handshake.
func (n Node) Is(flag string) bool { return slices.Contains(n.Flags, flag) }

// SlotCount returns the number of slots of a node, without the slots that it is importing.
func (n Node) SlotCount() int {
	count := 0
	for _, r := range n.Slots {
		count += r.Last - r.First + 1
	}
	return count
}

// Myself returns the node that printed the table.
func Myself(nodes []Node) (Node, bool) {
	i := slices.IndexFunc(nodes, func(n Node) bool { return n.Is("myself") })
	if i < 0 {
		return Node{}, false
	}
	return nodes[i], true
}

// Parse reads a table. It skips the line of variables at the end of nodes.conf. The nodes share no memory with the text.
func Parse(text string) ([]Node, error) {
	var nodes []Node
	left := mostSlots
	for line := range strings.Lines(text) {
		if strings.Count(line, " ") > mostFields {
			return nil, fmt.Errorf("a line of the table of nodes has more than %d fields", mostFields)
		}
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "vars" {
			continue
		}
		if len(nodes) == mostNodes {
			return nil, fmt.Errorf("the table of nodes has more than %d nodes", mostNodes)
		}
		node, err := parseLine(fields)
		if left -= node.SlotCount(); err == nil && left < 0 {
			err = fmt.Errorf("the nodes have more than %d slots together", mostSlots)
		}
		if err != nil {
			return nil, fmt.Errorf("line %.200q of the table of nodes: %w", strings.TrimSpace(line), err)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func parseLine(fields []string) (Node, error) {
	if len(fields) < lineFields {
		return Node{}, fmt.Errorf("the line has %d fields, expected at least %d", len(fields), lineFields)
	}
	for i, field := range fields[:lineFields] {
		if !isWord(field) {
			return Node{}, fmt.Errorf("field %d is longer than %d bytes or has unprintable characters", i+1, mostField)
		}
		fields[i] = strings.Clone(field)
	}
	n := Node{ID: fields[0], Flags: strings.Split(fields[2], ","), Linked: fields[7] == "connected"}
	n.Address, n.Hostname = splitAddress(fields[1])
	if fields[3] != "-" {
		n.Primary = fields[3]
	}
	n.Epoch, _ = strconv.ParseUint(fields[6], 10, 64) // 0 where there is none
	err := n.addSlots(fields[lineFields:])
	return n, err
}

// isWord reports whether a field is short and has printable ASCII characters only: it may become part of a status.
func isWord(field string) bool {
	return len(field) <= mostField && !strings.ContainsFunc(field, func(r rune) bool { return r <= ' ' || r > '~' })
}

// addSlots reads the slots of a line. A node has each slot once at most, and each open slot too.
func (n *Node) addSlots(fields []string) error {
	for _, field := range fields {
		if open, is := strings.CutPrefix(field, "["); is {
			n.addOpen(strings.TrimSuffix(open, "]"))
			continue
		}
		slots, err := parseRange(field)
		if err != nil {
			return err
		}
		n.Slots = append(n.Slots, slots)
	}
	return nil
}

// addOpen parses SLOT->-ID and SLOT-<-ID.
func (n *Node) addOpen(field string) {
	for sign, to := range map[string]*map[int]string{"->-": &n.Migrating, "-<-": &n.Importing} {
		text, id, is := strings.Cut(field, sign)
		slot, err := strconv.Atoi(text)
		if !is || err != nil || slot < 0 || slot > LastSlot || !isWord(id) {
			continue
		}
		if *to == nil {
			*to = map[int]string{}
		}
		(*to)[slot] = strings.Clone(id)
		return
	}
	if len(n.Unreadable) < mostUnreadable {
		n.Unreadable = append(n.Unreadable, fmt.Sprintf("%.100s", field))
	}
}

// splitAddress parses IP:PORT@BUSPORT[,HOSTNAME[,KEY=VALUE...]].
func splitAddress(field string) (address, hostname string) {
	endpoint, rest, _ := strings.Cut(field, ",")
	hostname, _, _ = strings.Cut(rest, ",")
	if strings.Contains(hostname, "=") {
		hostname = "" // it is a KEY=VALUE: there is no hostname
	}
	address, _, _ = strings.Cut(endpoint, "@")
	i := strings.LastIndexByte(address, ':')
	if i > 0 && strings.Contains(address[:i], ":") {
		address = "[" + address[:i] + "]" + address[i:] // IPv6, which the table writes without brackets
	}
	return address, hostname
}

func parseRange(field string) (Range, error) {
	first, last, more := strings.Cut(field, "-")
	if !more {
		last = first
	}
	from, errFrom := strconv.Atoi(first)
	to, errTo := strconv.Atoi(last)
	if errFrom != nil || errTo != nil || from < 0 || to > LastSlot || from > to {
		return Range{}, fmt.Errorf("%.40q is not a range of slots", field)
	}
	return Range{from, to}, nil
}

// String formats a range as the servers do.
func (r Range) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}
