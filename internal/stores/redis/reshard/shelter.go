// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// shelter waits until the destination has a replica that is behind by at most the given number of bytes. Without such a
// replica, the loss of the destination would lose all data that it has received.
func (b *batch) shelter(ctx context.Context, most int64) error {
	for until := b.clock.Now().Add(shelterPatience); ; {
		answers, err := b.do(ctx, b.To.Address, server.Command{"INFO", "replication"})
		if err != nil {
			return err
		}
		lacks := unsheltered(server.Fields(server.Text(answers[0])), most)
		if lacks == "" {
			return nil
		}
		if b.clock.Now().After(until) {
			return fmt.Errorf("%s %s", b.To.Address, lacks)
		}
		if err := b.sleep(ctx, jobPoll); err != nil {
			return err
		}
	}
}

// unsheltered returns why a server may not receive slots; "" if it may. info is the server's answer to INFO
// replication.
func unsheltered(info map[string]string, most int64) string {
	if info["role"] != "master" {
		return "is no longer a primary"
	}
	written, _ := strconv.ParseInt(info["master_repl_offset"], 10, 64) // all versions print a number
	least := int64(-1)
	for name, line := range info {
		if !strings.HasPrefix(name, "slave") || !strings.Contains(line, "state=online") {
			continue
		}
		for word := range strings.SplitSeq(line, ",") {
			if offset, is := strings.CutPrefix(word, "offset="); is {
				n, _ := strconv.ParseInt(offset, 10, 64) // all versions print a number
				least = max(least, n)
			}
		}
	}
	switch lag := written - least; {
	case least < 0:
		return "has no replica in sync"
	case lag > most:
		return fmt.Sprintf("has a replica that is %d bytes behind, and the limit is %d", lag, most)
	}
	return ""
}
