// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/bounded"
)

// mostTogether limits the memory of all large answers that are received at the same time. Most of the operator's
// memory, which config/manager/deployment.yaml limits to 512 MiB, stays free for everything else.
const mostTogether = 32 << 20

// size is a class of commands whose answers may be equally large.
type size int

const (
	// small is for commands that read the status of a server or execute a step.
	small size = iota
	// large is for commands that read a server's content: names of keys, and function libraries.
	large
)

// limits returns the limits for answers to commands of a size class.
//
// Small answers: CLUSTER NODES returns 250 KiB for a thousand servers, or 700 KiB if every slot is a separate range
// and 8,000 slots are being moved. Valkey remembers 1,000 moves of slots with 24 elements each. ROLE and HELLO have the
// deepest answers, with 3 levels.
//
// Large answers: GETKEYSINSLOT requests 100 keys of each of 1,024 slots, and FUNCTION DUMP returns the code of all
// libraries. Keys that are moved go from server to server and not through the operator.
func (s size) limits() bounded.Limits {
	out := bounded.Limits{Bytes: 2 << 20, Text: 1 << 20, Elements: 1 << 16, Depth: 4, Line: 64 << 10}
	if s == large {
		out.Bytes, out.Text, out.Elements = 16<<20, 16<<20, 1<<17
	}
	return out
}

// sizeOf returns the size class of the answers to commands.
func sizeOf(commands []Command) size {
	for _, command := range commands {
		switch strings.ToUpper(command.head()) {
		case "FUNCTION DUMP", "CLUSTER GETKEYSINSLOT":
			return large
		}
	}
	return small
}

// head returns the first two words of a command.
func (c Command) head() string {
	return strings.TrimSuffix(fmt.Sprintln(c[:min(len(c), 2)]...), "\n")
}

// TooLarge reports whether an answer was refused because of its size. A repeated request would get the same answer.
func TooLarge(err error) bool {
	_, is := errors.AsType[*bounded.ExceededError](err)
	return is
}
