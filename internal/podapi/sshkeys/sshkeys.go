// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshkeys defines what the operator and the program that writes the files of ssh and sshd must agree on. The
// program logs a digest of the files, which the operator reads to see which keys are in use. internal/agents/sshfiles
// writes the files.
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

// Serving is the message of the log line in which the program in a pod reports the digest of the ssh files that it has
// written.
const Serving = "Serving"

// Digest returns a digest of the names and contents of files. It is safe to log, because its 96 bits do not reveal
// keys, which are too long to be guessed.
func Digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%q %d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

const (
	// mostDigest is the maximum length of a digest, and mostLine the maximum length of a log line, in bytes.
	mostDigest, mostLine = 64, 4 << 10
)

// Served returns the last digest of ssh files that the log of a pod reports; "" if there is none. The result is
// untrusted, because anyone in the pod can write to the log.
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
