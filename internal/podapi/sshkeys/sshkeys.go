// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshkeys is what the operator and the program beside ssh and sshd say to each other: a digest of the files
// that are served, which the program logs and the operator reads. Keeping the files is no part of it.
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

// Serving is the message of the log line that reports what is served.
const Serving = "Serving"

// Digest stands for files by their names and contents. It reveals nothing of them: it has
// 96 bits, and private content is too long to be guessed.
func Digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%q %d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// Served is the digest of the files that a keeper serves by the end of its log, or is empty.
func Served(log string) string {
	lines := strings.Split(log, "\n")
	for _, line := range slices.Backward(lines) {
		var record struct{ Msg, Digest string }
		if json.Unmarshal([]byte(line), &record) == nil && record.Msg == Serving {
			return record.Digest
		}
	}
	return ""
}
