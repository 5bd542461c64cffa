// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineorder

import (
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint identifies the certificates with which the API server is recognized; empty if there are none. The
// operator records with which certificates it installed an agent, and the installation checks that it has the same.
func Fingerprint(certificates []byte) string {
	if len(certificates) == 0 {
		return ""
	}
	sum := sha256.Sum256(certificates)
	return hex.EncodeToString(sum[:6])
}
