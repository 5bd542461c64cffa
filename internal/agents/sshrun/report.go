// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"strconv"
	"strings"
	"time"
)

// Words of the reports of scripts (package script).
const (
	wordHello   = "hello"   // the script has begun
	wordRefuse  = "refuse"  // the command was not started, with the reason
	wordStarted = "started" // the marker exists, and the command starts
	wordEnd     = "end"     // the command has ended
	wordResult  = "result"  // the host has the result of an earlier start
	wordAlive   = "alive"   // an earlier start has a marker, and the command is running
	wordLost    = "lost"    // an earlier start has a marker, and left no result
	wordNone    = "none"    // the host has no marker
	wordBroken  = ""        // opcrew could not find out, with the reason in text
)

// report is one line that a script reports. A hostile server can send any, so the numbers are checked.
type report struct {
	word string
	// text is the reason of a refusal, or says why nothing was found out.
	text       string
	code       int
	begin, end time.Time
	// left is true if the command left processes behind, which were ended.
	left bool
}

func broken(why string) report { return report{word: wordBroken, text: why} }

func parse(line string) report {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return broken("an empty report")
	}
	switch word := fields[0]; word {
	case wordEnd, wordResult:
		return parseEnd(word, fields[1:])
	case wordRefuse:
		return report{word: word, text: strings.Join(fields[1:], " ")}
	default:
		return report{word: word}
	}
}

// parseEnd parses the exit code and the times of a command, in seconds since 1970 by the clock of the host.
func parseEnd(word string, fields []string) report {
	var numbers [4]int64
	for i := range numbers {
		if i >= len(fields) {
			return broken("the result on the host is incomplete")
		}
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil || n < 0 {
			return broken("the result on the host is damaged")
		}
		numbers[i] = n
	}
	if numbers[0] > 255 {
		return broken("the result on the host has an impossible exit code")
	}
	return report{word: word, code: int(numbers[0]), begin: time.Unix(numbers[1], 0), end: time.Unix(numbers[2], 0), left: numbers[3] > 0}
}
