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

// A replica copies anyone who is at the address that it knows of its primary, and drops what it has before: servers prove
// nothing to each other but a password, which is that of all of a cluster. So one that is not known for certain to be whom
// a replica takes it for is started such that none may copy it, until the operator has seen that no one is misled; and a
// replica drops the address that it knows when it starts. It hears of its primary again over the bus of the cluster,
// which goes by names: from that itself, which calls it, or by the operator.

// stranger reports whether a server may be at an address that was another's: unless it was started there before, as the
// node that it is now, and the operator has let replicas copy it, which it then has the server write into its configuration
// (CONFIG REWRITE, which puts quotes around values).
func stranger(before, ip string, found facts) bool {
	member := found.own != nil && (found.own.Primary != "" || found.own.SlotCount() > 0)
	stays, admitted := false, true
	for line := range strings.Lines(before) {
		words := strings.Fields(line)
		stays = stays || len(words) == 2 && words[0] == announceIP && strings.Trim(words[1], `"`) == ip
		admitted = admitted && !slices.Contains(words, barred)
	}
	return !stays || !admitted || !member || decide(found) != ""
}

// barred is the rule of the user as which replicas log in that keeps them from copying a server.
const barred = "-psync"

// readBefore reads the configuration of the start before, "" if there was none in this pod.
func readBefore(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the configuration of the start before: %w", err)
	}
	return string(text), nil
}

// forgetAddress has the table of nodes in a folder have no address for a node.
func forgetAddress(folder, id string) error {
	path := filepath.Join(folder, nodesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the table of nodes: %w", err)
	}
	if err := durable.Replace(path, strings.NewReader(withoutAddress(string(text), id)), 0o600); err != nil {
		return fmt.Errorf("write the table of nodes: %w", err)
	}
	return nil
}

// withoutAddress has a table say of a node what servers say of one whose address is not known: ":0@0", and noaddr.
func withoutAddress(table, id string) string {
	var out strings.Builder
	for line := range strings.Lines(table) {
		words := strings.SplitN(line, " ", 4)
		if len(words) == 4 && words[0] == id {
			_, more, has := strings.Cut(words[1], ",") // its hostname, and what else newer versions tell
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
