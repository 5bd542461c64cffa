// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

// Fill is how much of its memory for data a process uses. A stage changes less often than a percentage.
type Fill int

// A full process refuses writes or evicts keys, depending on its maxmemory-policy. A process between RoomLeft and Full may be
// filling up or emptying.
const (
	RoomLeft Fill = iota
	NearlyFull
	Full
)

const (
	nearlyFull = 90 // percent
	full       = 98 // client buffers take the rest (evict.c)
)

// Fill is the stage of a process.
func (s NodeStatus) Fill() Fill {
	switch used := s.UsedMemory; {
	case s.MaxMemory <= 0 || used < s.MaxMemory/100*nearlyFull:
		return RoomLeft
	case used < s.MaxMemory/100*full:
		return NearlyFull
	}
	return Full
}
