// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/bounded"
)

// mostTogether bounds the memory of all large answers at a time. It leaves most of the operator's memory, which
// config/manager/deployment.yaml limits to 512 MiB, to everything else.
const mostTogether = 32 << 20

// size is how large the answers to some commands may be.
type size int

const (
	// small is for looks and steps.
	small size = iota
	// large is for the content of a server: names of keys and libraries.
	large
)

// limits are those of answers of a size.
//
// Small: CLUSTER NODES of a thousand servers has 250 KiB, and 700 KiB if every slot is a range of its own and 8,000 are open. A
// server of Valkey remembers 1,000 moves of slots with 24 elements each. The deepest answer is ROLE or HELLO, with 3 levels.
//
// Large: GETKEYSINSLOT is asked for 1,024 slots with 100 keys each, and FUNCTION DUMP has the code of all libraries. A key that
// is moved goes from server to server and not through the operator.
func (s size) limits() bounded.Limits {
	out := bounded.Limits{Bytes: 2 << 20, Text: 1 << 20, Elements: 1 << 16, Depth: 4, Line: 64 << 10}
	if s == large {
		out.Bytes, out.Text, out.Elements = 16<<20, 16<<20, 1<<17
	}
	return out
}

// sizeOf is the size of the answers to commands.
func sizeOf(commands []Command) size {
	for _, command := range commands {
		switch strings.ToUpper(command.head()) {
		case "FUNCTION DUMP", "CLUSTER GETKEYSINSLOT":
			return large
		}
	}
	return small
}

// head is the first two words of a command.
func (c Command) head() string {
	return strings.TrimSuffix(fmt.Sprintln(c[:min(len(c), 2)]...), "\n")
}

// TooLarge reports whether an error says that an answer was refused for its size. The same question has the same answer.
func TooLarge(err error) bool {
	_, is := errors.AsType[*bounded.ExceededError](err)
	return is
}
