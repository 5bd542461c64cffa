// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package tree

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	procDir = "/proc"
	// killTime is how long to retry SIGKILL. A process that waits for a dead disk cannot be killed.
	killTime   = 10 * time.Second
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// process is a process in the process table. The kernel may reuse a PID, but never with the same start time.
type process struct {
	pid, parent int
	start       string
	dead        bool // whether the process is a zombie
}

// descendants returns the living descendants of this process.
func descendants() []process {
	children := map[int][]process{}
	entries, _ := os.ReadDir(procDir)
	for _, entry := range entries {
		if p, ok := readProcess(entry.Name()); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	var out []process
	for next := children[os.Getpid()]; len(next) > 0; next = next[1:] {
		next = append(next, children[next[0].pid]...)
		if !next[0].dead {
			out = append(out, next[0])
		}
	}
	return out
}

func readProcess(pid string) (process, bool) {
	if pid[0] < '0' || pid[0] > '9' {
		return process{}, false
	}
	text, err := os.ReadFile(filepath.Join(procDir, pid, "stat"))
	if err != nil {
		return process{}, false
	}
	return parseStat(string(text))
}

// parseStat parses PID, state, parent and start time of a line in /proc/PID/stat. The name in parentheses can contain
// any text, so the fields are counted from the last closing parenthesis.
func parseStat(text string) (process, bool) {
	const state, parent, start = 0, 1, 19
	first, _, _ := strings.Cut(text, " ")
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) <= start {
		return process{}, false
	}
	pid, err := strconv.Atoi(first)
	above, errParent := strconv.Atoi(f[parent])
	return process{pid, above, f[start], f[state] == "Z" || f[state] == "X"}, err == nil && errParent == nil
}

// signal sends a signal to exactly this process. If the process has ended and its PID was reused, it sends nothing.
func (p process) signal(signal syscall.Signal) {
	held, err := os.FindProcess(p.pid)
	if err != nil {
		return
	}
	defer func() { _ = held.Release() }()
	if now, ok := readProcess(strconv.Itoa(p.pid)); ok && now.start == p.start {
		_ = held.Signal(signal)
	}
}

// signalAll sends a signal to all descendants, and returns their number.
func signalAll(signal syscall.Signal) int {
	found := descendants()
	for _, p := range found {
		p.signal(signal)
	}
	return len(found)
}

// KillAll kills all descendants, including those that start meanwhile. It returns how many could not be killed.
func KillAll() int {
	deadline := time.Now().Add(killTime)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		left := signalAll(syscall.SIGKILL)
		if left == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
	}
}
