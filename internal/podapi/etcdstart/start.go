// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdstart

import (
	"fmt"
	"strings"
)

// Mode is what a member may begin with.
type Mode string

// The modes.
const (
	Bootstrap Mode = "bootstrap" // nothing: the cluster is about to be made
	Join      Mode = "join"      // nothing: the cluster has been informed of the member
	// Restored is for a member that begins with what was made of a backup, on a new volume.
	Restored Mode = "restored"
	// Established is for a member that was seen as part of its cluster. It may only go on with
	// the log that it has.
	Established Mode = "established"
)

const idLength = 16

// Start is what the operator allows a member.
type Start struct {
	Mode Mode
	ID   string // of the member, as etcd prints it
}

// String is what ParseStart reads.
func (s Start) String() string { return string(s.Mode) + " " + s.ID }

// ParseStart reads a mode and an id of 16 hexadecimal digits.
func ParseStart(text string) (Start, error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return Start{}, fmt.Errorf("%.80q is not a mode and the id of a member", text)
	}
	s := Start{Mode(words[0]), words[1]}
	switch s.Mode {
	case Bootstrap, Join, Restored, Established:
	default:
		return Start{}, fmt.Errorf("%.80q is no mode: there are %s, %s, %s and %s", s.Mode, Bootstrap, Join, Restored, Established)
	}
	if len(s.ID) != idLength || strings.ContainsFunc(s.ID, notHex) {
		return Start{}, fmt.Errorf("%.80q is not the id of a member: that has %d hexadecimal digits", s.ID, idLength)
	}
	return s, nil
}

func notHex(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }
