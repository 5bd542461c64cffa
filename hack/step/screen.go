// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Elapsed times at which a step prints a line, if the output is not a terminal.
const (
	firstNotice = 5 * time.Second
	nextNotices = 30 * time.Second
)

// screen prints a line that it rewrites. If the output is not a terminal, it prints a new line from time to time.
type screen struct {
	out      io.Writer
	terminal bool
	notice   time.Duration // elapsed time after which the next line is printed
}

func newScreen(out *os.File) *screen {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &screen{out: out, terminal: terminal, notice: firstNotice}
}

func (s *screen) progress(line string, elapsed time.Duration) {
	if s.terminal {
		fmt.Fprintf(s.out, "\r\033[K\033[?7l%s\033[?7h", line) // \033[?7l cuts the line off instead of wrapping it
		return
	}
	if elapsed < s.notice {
		return
	}
	fmt.Fprintln(s.out, line)
	s.notice = elapsed.Truncate(nextNotices) + nextNotices
}

// line prints a line that is not rewritten later.
func (s *screen) line(line string) {
	if s.terminal {
		fmt.Fprint(s.out, "\r\033[K")
	}
	fmt.Fprintln(s.out, line)
}
