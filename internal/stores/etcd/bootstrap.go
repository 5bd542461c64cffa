// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"crypto/sha1" // etcd's own choice, and no matter of security
	"encoding/binary"
	"slices"
	"strings"
)

// BootstrapID is the id that a first member of a cluster gives itself and that the others
// give it: a function of nothing but its peer URLs and the cluster's token. A member that
// is added later gets its id from the cluster.
func BootstrapID(peerURLs []string, token string) uint64 {
	sum := sha1.Sum([]byte(strings.Join(slices.Sorted(slices.Values(peerURLs)), "") + token))
	return binary.BigEndian.Uint64(sum[:8])
}
