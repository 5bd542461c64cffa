// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package users

import "strings"

// The lines around opcrew's keys in an authorized_keys file.
const (
	begin = "# BEGIN opcrew: changes in this block are lost\n"
	end   = "# END opcrew\n"
)

// Keys returns the lines of opcrew's block; an empty text if the file has none.
func Keys(file string) string {
	from, to, found := block(file)
	if !found {
		return ""
	}
	return file[from+len(begin) : to-len(end)]
}

// SetKeys replaces the lines of opcrew's block; without lines it removes the block. A new block is at the beginning, so
// that it never joins a last line without a line break, and its removal leaves the file as it was before.
func SetKeys(file, lines string) string {
	from, to, found := block(file)
	if !found {
		from, to = 0, 0
	}
	if lines == "" {
		return file[:from] + file[to:]
	}
	return file[:from] + begin + lines + end + file[to:]
}

// Lines returns the lines of a block with these keys.
func Lines(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return strings.Join(keys, "\n") + "\n"
}

// block returns where the first block begins and ends. A block that does not end is not opcrew's.
func block(file string) (from, to int, found bool) {
	from = -1
	at := 0
	for line := range strings.Lines(file) {
		if line == begin {
			from = at
		}
		if at += len(line); line == end && from >= 0 {
			return from, at, true
		}
	}
	return 0, 0, false
}
