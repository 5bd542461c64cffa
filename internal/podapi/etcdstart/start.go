// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdstart

import (
	"fmt"
	"strings"
)

// Mode is the way in which an etcd member may start.
type Mode string

// These are the ways in which an etcd member may start.
const (
	Bootstrap Mode = "bootstrap" // the member starts without data, because its cluster is new
	Join      Mode = "join"      // the member starts without data, because it was just added to its cluster
	// Restored is the mode of a member that starts from a backup on a new volume.
	Restored Mode = "restored"
	// Established is the mode of a member that has already been part of its cluster. It may only start with its own
	// log.
	Established Mode = "established"
)

const idLength = 16

// Start is the operator's permission for an etcd member to start.
type Start struct {
	Mode Mode
	ID   string // member ID in hexadecimal, as etcd prints it
}

// String returns the permission as text, for ParseStart.
func (s Start) String() string { return string(s.Mode) + " " + s.ID }

// ParseStart parses a start mode and a member ID of 16 hexadecimal digits.
func ParseStart(text string) (Start, error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return Start{}, fmt.Errorf("%.80q does not consist of a start mode and a member ID", text)
	}
	s := Start{Mode(words[0]), words[1]}
	switch s.Mode {
	case Bootstrap, Join, Restored, Established:
	default:
		return Start{}, fmt.Errorf("%.80q is not a start mode; use %s, %s, %s or %s", s.Mode, Bootstrap, Join, Restored, Established)
	}
	if len(s.ID) != idLength || strings.ContainsFunc(s.ID, notHex) {
		return Start{}, fmt.Errorf("%.80q is not a member ID, which has %d hexadecimal digits", s.ID, idLength)
	}
	return s, nil
}

func notHex(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }
