// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// stat holds the fields of /proc/PID/stat that this package uses.
type stat struct {
	state  byte
	parent int
	flags  uint64
	start  uint64
}

func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

func (s stat) exiting() bool {
	const exiting = 0x4 // PF_EXITING in the kernel
	return s.flags&exiting != 0
}

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(data)
}

// parseStat parses /proc/PID/stat. The command name may contain spaces and parentheses, so its end is the last
// parenthesis.
func parseStat(data []byte) (stat, error) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("no command name in %q", data)
	}
	fields := strings.Fields(string(data[end+1:]))
	const stateField, parentField, flagsField, startField = 0, 1, 6, 19
	if len(fields) <= startField {
		return stat{}, fmt.Errorf("only %d fields in %q", len(fields), data)
	}
	start, err := strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("start time: %w", err)
	}
	flags, err := strconv.ParseUint(fields[flagsField], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("flags: %w", err)
	}
	parent, err := strconv.Atoi(fields[parentField])
	if err != nil {
		return stat{}, fmt.Errorf("parent: %w", err)
	}
	return stat{state: fields[stateField][0], parent: parent, flags: flags, start: start}, nil
}
