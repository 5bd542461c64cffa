// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"
	"github.com/coreos/ignition/v2/config/validate"
	"github.com/coreos/vcontext/report"
)

// checkMerged reports what is wrong only with the merged config, such as a file of one MachineConfig below a link of
// another one.
func checkMerged(merged types.Config, parts []part, n *notes) {
	for _, entry := range validate.ValidateWithContext(merged, nil).Entries {
		if entry.Kind.IsFatal() {
			n.invalid(fieldOf(entry), "%s%s", advise(entry.Message), declarers(pathAt(merged, entry), parts))
		}
	}
	checkNesting(merged, parts, n)
}

// checkNesting reports paths that lead through a file of the same configuration.
func checkNesting(merged types.Config, parts []part, n *notes) {
	files := map[string]bool{}
	for _, file := range merged.Storage.Files {
		files[file.Path] = true
	}
	for field, node := range nodes(merged.Storage) {
		for i := 1; i < len(node.Path); i++ {
			if above := node.Path[:i]; node.Path[i] == '/' && files[above] {
				n.invalid(field+".path", "%s is below the file %s of the same configuration: remove one of them%s", node.Path, above,
					declarers(above, parts))
			}
		}
	}
}

// nodes returns all entries of a config with their fields, in their order.
func nodes(s types.Storage) func(yield func(string, types.Node) bool) {
	return func(yield func(string, types.Node) bool) {
		for i, file := range s.Files {
			if !yield(fmt.Sprintf("%s.storage.files[%d]", configField, i), file.Node) {
				return
			}
		}
		for i, directory := range s.Directories {
			if !yield(fmt.Sprintf("%s.storage.directories[%d]", configField, i), directory.Node) {
				return
			}
		}
		for i, link := range s.Links {
			if !yield(fmt.Sprintf("%s.storage.links[%d]", configField, i), link.Node) {
				return
			}
		}
	}
}

// pathAt returns the path of the entry that a report is about; empty if it is about something else.
func pathAt(merged types.Config, entry report.Entry) string {
	field := fieldOf(entry)
	for prefix, node := range nodes(merged.Storage) {
		if field == prefix || strings.HasPrefix(field, prefix+".") {
			return node.Path
		}
	}
	return ""
}

// declarers names the MachineConfigs that declare a path, as a clause to append to a message.
func declarers(path string, parts []part) string {
	var found []string
	for _, p := range parts {
		for _, node := range nodes(p.ignition.Storage) {
			if node.Path == path && !slices.Contains(found, p.name) {
				found = append(found, p.name)
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s is in MachineConfig %s)", path, strings.Join(found, ", "))
}
