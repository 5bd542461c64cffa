// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"fmt"
	"strings"
)

// InManifests puts the names of the three images in place of the default ones that
// the manifests in config carry. It fails if one of the three is not there.
func (i Images) InManifests(manifests string) (string, error) {
	for _, place := range []struct{ before, old, new string }{
		{"image: ", defaultOperator, quoted(i.Operator)},
		{"--agent-image=", defaultAgent, i.Agent},
		{"--backup-image=", defaultBackup, i.Backup},
	} {
		// A line ends after the name: opcrew/opcrew:dev is the beginning of other names.
		old := place.before + place.old + "\n"
		if !strings.Contains(manifests, old) {
			return "", fmt.Errorf("the manifests have no %q to put %s in its place", strings.TrimSpace(old), place.new)
		}
		manifests = strings.ReplaceAll(manifests, old, place.before+place.new+"\n")
	}
	return manifests, nil
}

// quoted is the name as YAML has it: the address of an IPv6 registry would begin a list.
func quoted(name string) string {
	if strings.HasPrefix(name, "[") {
		return `"` + name + `"`
	}
	return name
}
