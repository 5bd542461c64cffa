// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// journal records what happened in a run, in order. It helps to find out why a run failed.
type journal struct {
	mu    sync.Mutex
	begin time.Time
	lines []string
	marks []int // indexes of the lines that describe a fault
}

func newJournal() *journal { return &journal{begin: time.Now()} }

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	j.lines = append(j.lines, fmt.Sprintf("%7.3fs  %s", time.Since(j.begin).Seconds(), line))
}

// mark adds a line that describes a fault.
func (j *journal) mark(format string, args ...any) {
	j.add("*** "+format, args...)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.marks = append(j.marks, len(j.lines)-1)
}

func (j *journal) fired() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.marks) > 0
}

// around returns the given numbers of lines before and after the first fault.
func (j *journal) around(before, after int) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	from, to := 0, len(j.lines)
	if len(j.marks) > 0 {
		from = max(0, j.marks[0]-before)
		to = min(to, j.marks[0]+after)
	}
	var b strings.Builder
	for _, line := range j.lines[from:to] {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	if more := len(j.lines) - to; more > 0 {
		fmt.Fprintf(&b, "    ... and %d more lines\n", more)
	}
	return b.String()
}
