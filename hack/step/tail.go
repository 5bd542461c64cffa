// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
)

// shownLines is the number of lines that are shown after a failure. It suffices for an error and its context.
const shownLines = 40

// tail reads a file that grows. It counts the lines that are units of work, and keeps the last of the other lines.
type tail struct {
	file  string
	count *regexp.Regexp

	offset int64
	units  int
	last   []string
}

// read reads the lines that were written since the last call. It leaves an incomplete last line for the next call.
func (t *tail) read() error {
	file, err := os.Open(t.file)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, t.offset, 1<<40))
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	t.offset += int64(end)
	for line := range bytes.Lines(text[:end]) {
		t.take(string(bytes.TrimRight(line, "\r\n")))
	}
	return nil
}

func (t *tail) take(line string) {
	if t.count != nil && t.count.MatchString(line) {
		t.units++
		return
	}
	t.last = append(t.last, line)
	if len(t.last) > shownLines {
		t.last = t.last[1:]
	}
}
