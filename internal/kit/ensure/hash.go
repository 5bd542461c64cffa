// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hash returns a short hash of a value: 16 hexadecimal digits. It hashes the JSON of the value, with sorted map keys.
// opcrew stores the hash in annotations, to recognize the settings for which it created an object. Hash panics if the
// value cannot be encoded as JSON.
func Hash(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Errorf("hash %T: %w", value, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
