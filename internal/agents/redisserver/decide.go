// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import "fmt"

// decide returns why a server must not start with the data of a folder; "" if it may. A server creates its append-only
// file at its first start, before it joins a cluster. A server that is in a cluster but has no such file has therefore
// lost its data.
// docs/design/redis.md describes what happens then.
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
