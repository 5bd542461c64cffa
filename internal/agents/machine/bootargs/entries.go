// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package bootargs

import (
	"fmt"
	"strings"
)

// CommandLineFile holds the command line for the entries of kernels that are installed later.
const CommandLineFile = "/etc/kernel/cmdline"

// key is the word in a boot entry before the kernel command line.
const key = "options"

// Line returns the kernel command line in a file of systemd-boot.
func Line(p, content string) (string, error) {
	if p == CommandLineFile {
		return strings.TrimSuffix(content, "\n"), nil
	}
	from, to, count := options(content)
	if count > 1 {
		return "", fmt.Errorf("%s has several lines with options: join them to one, so that opcrew can change it", p)
	}
	return content[from:to], nil
}

// SetLine replaces the kernel command line in a file of systemd-boot, and keeps everything else.
func SetLine(p, content, line string) string {
	if p == CommandLineFile {
		return line + content[len(strings.TrimSuffix(content, "\n")):]
	}
	from, to, count := options(content)
	if count == 1 {
		return content[:from] + line + content[to:]
	}
	if line == "" || count > 1 {
		return content
	}
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	return content + key + " " + line + "\n"
}

// options returns where the command line begins and ends, and how many there are.
func options(content string) (from, to, count int) {
	at := 0
	for line := range strings.Lines(content) {
		text := strings.TrimSpace(line)
		if rest, is := strings.CutPrefix(text, key); is && rest != "" && strings.TrimSpace(rest[:1]) == "" {
			rest = strings.TrimSpace(rest)
			from = at + strings.LastIndex(line, rest)
			to = from + len(rest)
			count++
		}
		at += len(line)
	}
	return from, to, count
}
