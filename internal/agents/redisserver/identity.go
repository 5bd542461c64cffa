// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
)

// mustBlock reports whether replicas must not copy the server yet, because its address may have belonged to another
// server. Copying is safe if the previous configuration shows that this node already ran at this address and that the
// operator had allowed replication (the operator saves that with CONFIG REWRITE). See docs/design/redis.md.
func mustBlock(before, ip string, found facts) bool {
	member := found.own != nil && (found.own.Primary != "" || found.own.SlotCount() > 0)
	stays, admitted := false, true
	for line := range strings.Lines(before) {
		words := strings.Fields(line)
		stays = stays || len(words) == 2 && words[0] == announceIP && strings.Trim(words[1], `"`) == ip
		admitted = admitted && !slices.Contains(words, blockingRule)
	}
	return !stays || !admitted || !member || decide(found) != ""
}

// blockingRule is the ACL rule that prevents replicas from copying the server. Replicas log in as the operator's user,
// so the rule belongs to that user.
const blockingRule = "-psync"

// readBefore reads the configuration of the previous start; "" if this is the first start in the pod.
func readBefore(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the configuration of the previous start: %w", err)
	}
	return string(text), nil
}

// forgetAddress removes the address of a node from the node table in a folder.
func forgetAddress(folder, id string) error {
	path := filepath.Join(folder, nodesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the node table: %w", err)
	}
	if err := durable.Replace(path, strings.NewReader(withoutAddress(string(text), id)), 0o600); err != nil {
		return fmt.Errorf("write the node table: %w", err)
	}
	return nil
}

// withoutAddress returns the node table with the address of a node marked as unknown, in the way servers do it: ":0@0"
// and the flag noaddr.
func withoutAddress(table, id string) string {
	var out strings.Builder
	for line := range strings.Lines(table) {
		words := strings.SplitN(line, " ", 4)
		if len(words) == 4 && words[0] == id {
			// The second word is the address, followed by the host name and, in newer versions of Redis, further fields.
			_, more, has := strings.Cut(words[1], ",")
			if words[1] = ":0@0"; has {
				words[1] += "," + more
			}
			if !slices.Contains(strings.Split(words[2], ","), "noaddr") {
				words[2] += ",noaddr"
			}
			line = strings.Join(words, " ")
		}
		out.WriteString(line)
	}
	return out.String()
}
