// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"fmt"
	"os"
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

// writeInstall copies a file of manifests with the names of the three images in it. The file appears whole or not at all.
func (i Images) writeInstall(from, to string) error {
	manifests, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read the manifests to install: %w", err)
	}
	named, err := i.InManifests(string(manifests))
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if err := os.WriteFile(to+".tmp", []byte(named), 0o600); err != nil {
		return fmt.Errorf("write the manifests to install: %w", err)
	}
	return os.Rename(to+".tmp", to)
}
