// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package server

// Fill describes how full the memory for data of a server is. It has only a few stages, so it changes less often than a
// percentage.
type Fill int

// The stages of memory use. A full server refuses writes or evicts keys, as its maxmemory-policy says. A server between
// RoomLeft and Full may be filling up or emptying.
const (
	RoomLeft Fill = iota
	NearlyFull
	Full
)

const (
	nearlyFull = 90 // percent of the memory for data
	full       = 98 // percent; the remaining memory is for client buffers (evict.c)
)

// Fill returns the stage of a server's memory use.
func (s NodeStatus) Fill() Fill {
	switch used := s.UsedMemory; {
	case s.MaxMemory <= 0 || used < s.MaxMemory/100*nearlyFull:
		return RoomLeft
	case used < s.MaxMemory/100*full:
		return NearlyFull
	}
	return Full
}
