// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"fmt"
	"strings"
)

// InManifests replaces the default names of the three images in manifests from config. It fails if one of the default
// names is missing.
func (i Images) InManifests(manifests string) (string, error) {
	for _, place := range []struct{ before, old, new string }{
		{"image: ", defaultOperator, quoted(i.Operator)},
		{"--agent-image=", defaultAgent, i.Agent},
		{"--backup-image=", defaultBackup, i.Backup},
	} {
		// Match the line end, because opcrew/opcrew:dev is a prefix of other names.
		old := place.before + place.old + "\n"
		if !strings.Contains(manifests, old) {
			return "", fmt.Errorf("the manifests have no %q to put %s in its place", strings.TrimSpace(old), place.new)
		}
		manifests = strings.ReplaceAll(manifests, old, place.before+place.new+"\n")
	}
	return manifests, nil
}

// quoted returns the name as a YAML string. The bracket of an IPv6 address would start a list.
func quoted(name string) string {
	if strings.HasPrefix(name, "[") {
		return `"` + name + `"`
	}
	return name
}
