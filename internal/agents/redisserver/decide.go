// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import "fmt"

// decide says why a server must not go on with a folder; empty: it may.
//
// A log of writes is there from the first start on, before the node has any part in a cluster,
// and never goes while a server runs. So a node that has a part, and no log, has lost its data:
//
//   - a primary would start empty, and its replica would empty itself after it;
//   - a replica would be empty until it has copied its primary, and could be elected before.
//
// A dump.rdb beside it changes nothing. Servers that have a log switched on do not read it, and
// it may be as old as the day when this node last was a replica.
func decide(f facts) string {
	switch {
	case f.log:
		return ""
	case f.own != nil && f.own.Primary != "":
		return fmt.Sprintf("node %s was a replica of %s, and its log is gone", f.own.ID, f.own.Primary)
	case f.own != nil && f.own.SlotCount() > 0:
		return fmt.Sprintf("node %s was the primary of %d slots, and its log is gone", f.own.ID, f.own.SlotCount())
	case f.remains:
		return "there are files of a log without the list of them, which a server would write over"
	}
	return ""
}
