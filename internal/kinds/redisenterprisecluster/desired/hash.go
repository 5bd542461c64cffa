// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// Hash returns the SHA-256 of a text in hexadecimal. Redis ACLs store passwords in the same form.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// SortedKeys returns the keys of a map in alphabetical order.
func SortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
