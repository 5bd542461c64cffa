// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hash returns a short hash of a value's JSON, in which the keys of maps are sorted: 16 hexadecimal digits. It is used
// in annotations that record what an object was made for. It panics if a value has no JSON.
func Hash(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Errorf("hash %T: %w", value, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
