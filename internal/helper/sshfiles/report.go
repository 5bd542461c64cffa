// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// serving is the message of the line of the log that tells what is served.
const serving = "Serving"

// Digest stands for files by their names and contents. It tells nothing of them: it is of
// 96 bits, and what is private in them is too much to be guessed.
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
		if json.Unmarshal([]byte(line), &record) == nil && record.Msg == serving {
			return record.Digest
		}
	}
	return ""
}
