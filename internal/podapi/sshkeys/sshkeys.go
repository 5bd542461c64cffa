// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshkeys is the contract between the operator and the program that writes the files of ssh and sshd. The
// program logs a digest of the files, which the operator reads. internal/agents/sshfiles writes the files.
package sshkeys

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Serving is the message of the log line with the digest.
const Serving = "Serving"

// Digest returns a digest of files by name and content. It can be logged: its 96 bits do not reveal private content,
// which is too long to be guessed.
func Digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%q %d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

const (
	// mostDigest is the longest digest, and mostLine the longest line of the log that is read.
	mostDigest, mostLine = 64, 4 << 10
)

// Served returns the last digest in the log; "" if there is none. Anyone in the pod can write to the log.
func Served(log string) string {
	lines := strings.Split(log, "\n")
	for _, line := range slices.Backward(lines) {
		var record struct{ Msg, Digest string }
		if len(line) <= mostLine && json.Unmarshal([]byte(line), &record) == nil && record.Msg == Serving && isDigest(record.Digest) {
			return record.Digest
		}
	}
	return ""
}

func isDigest(text string) bool {
	plain := func(r rune) bool { return (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') }
	return len(text) <= mostDigest && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) })
}
