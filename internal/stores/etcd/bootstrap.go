// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"crypto/sha1" // etcd computes IDs with it; not for security
	"encoding/binary"
	"slices"
	"strings"
)

// BootstrapID returns the ID that etcd computes for an initial member: a hash of its peer URLs and the cluster's token.
// A member that is added later gets its ID when it is added.
func BootstrapID(peerURLs []string, token string) uint64 {
	sum := sha1.Sum([]byte(strings.Join(slices.Sorted(slices.Values(peerURLs)), "") + token))
	return binary.BigEndian.Uint64(sum[:8])
}
