// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusternodes parses the table of nodes of a Redis or Valkey cluster. Servers store the table in nodes.conf
// and print it for CLUSTER NODES. The package does not interpret the table.
package clusternodes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Node is one line of the table. It describes the server itself or another server that it knows.
type Node struct {
	ID       string
	Address  string // host and port for clients; the host is empty if it is not known
	Hostname string // the host name that the node announces; empty if it announces none
	Flags    []string
	Primary  string // the ID of the primary, if the node is a replica
	Epoch    uint64 // if two nodes claim a slot, the other nodes believe the one with the higher epoch
	Linked   bool   // whether the connection to the node is up
	Slots    []Range
	// Migrating and Importing hold the slots that are being moved, with the ID of the node at the other end. Only the
	// server's own line has them. Unreadable holds entries for moving slots in an unknown format; the source still owns
	// such a slot.
	Migrating, Importing map[int]string
	Unreadable           []string
}

// Range is a range of slots. It includes First and Last.
type Range struct{ First, Last int }

// LastSlot is the highest slot number (cluster specification, "Key distribution model").
const LastSlot = 16383

const (
	// lineFields is the number of fields before the slots of a line.
	lineFields = 8
	// mostNodes is the maximum number of nodes in a table. Redis recommends at most a thousand nodes.
	mostNodes = 2000
	// mostFields is the maximum number of fields in a line. Each slot may be listed as owned, migrating and importing.
	mostFields = lineFields + 3*(LastSlot+1)
	// mostField is the maximum length of a field in bytes. The longest field is an address with names and a shard ID.
	mostField = 1 << 10
	// mostSlots is the maximum number of slots of all nodes together. A cluster has LastSlot+1 slots, but a table may
	// list some twice until the servers have agreed on their owners.
	mostSlots = 4 * (LastSlot + 1)
	// mostUnreadable is how many slots in an unknown format are kept for an error message.
	mostUnreadable = 16
)

// Is reports whether a node has a flag, such as myself, master, slave, fail or handshake.
func (n Node) Is(flag string) bool { return slices.Contains(n.Flags, flag) }

// SlotCount returns the number of slots that a node owns, without slots that it is importing.
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

// Parse parses a table. It skips the line of variables at the end of nodes.conf. The result shares no memory with the
// text.
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
	n.Epoch, _ = strconv.ParseUint(fields[6], 10, 64) // 0 if the field is empty
	err := n.addSlots(fields[lineFields:])
	return n, err
}

// isWord reports whether a field is short and has only printable ASCII characters. Fields may end up in a status.
func isWord(field string) bool {
	return len(field) <= mostField && !strings.ContainsFunc(field, func(r rune) bool { return r <= ' ' || r > '~' })
}

// addSlots parses the slots of a line. A slot may be listed once as owned and once as being moved.
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

// addOpen parses a slot that is being moved, in the form SLOT->-ID or SLOT-<-ID.
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

// splitAddress parses an address field: IP:PORT@BUSPORT[,HOSTNAME[,KEY=VALUE...]].
func splitAddress(field string) (address, hostname string) {
	endpoint, rest, _ := strings.Cut(field, ",")
	hostname, _, _ = strings.Cut(rest, ",")
	if strings.Contains(hostname, "=") {
		hostname = "" // the second part is a KEY=VALUE, so there is no host name
	}
	address, _, _ = strings.Cut(endpoint, "@")
	i := strings.LastIndexByte(address, ':')
	if i > 0 && strings.Contains(address[:i], ":") {
		address = "[" + address[:i] + "]" + address[i:] // an IPv6 address, which the table lists without brackets
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

// String formats a range as Redis does, such as 5 or 0-5460.
func (r Range) String() string {
	if r.First == r.Last {
		return strconv.Itoa(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}
