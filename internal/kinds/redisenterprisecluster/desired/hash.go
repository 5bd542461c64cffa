// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// Hash is the SHA-256 of a text in hexadecimal. It is also how the ACL of a server stores a password.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// SortedKeys are the keys of a map in order.
func SortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
