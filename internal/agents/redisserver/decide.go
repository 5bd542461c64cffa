// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import "fmt"

// decide returns why a server must not continue with a folder; "" if it may. The append-only file is created at the
// first start, before the node joins a cluster, so a node of a cluster without it has lost its data.
// docs/design/redis.md describes the consequences.
func decide(f facts) string {
	switch {
	case f.log:
		return ""
	case f.own != nil && f.own.Primary != "":
		return fmt.Sprintf("node %s was a replica of %s and has lost its append-only file", f.own.ID, f.own.Primary)
	case f.own != nil && f.own.SlotCount() > 0:
		return fmt.Sprintf("node %s was the primary of %d slots and has lost its append-only file", f.own.ID, f.own.SlotCount())
	case f.remains:
		return "the folder has append-only files without a manifest, which the server would overwrite"
	}
	return ""
}
