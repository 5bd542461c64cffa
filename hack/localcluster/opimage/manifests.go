// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"fmt"
	"os"
	"strings"
)

// InManifests replaces the default names of the three images in the manifests. It returns an error if the manifests
// lack one of the default names.
func (i Images) InManifests(manifests string) (string, error) {
	for _, place := range []struct{ before, old, new string }{
		{"image: ", defaultOperator, quoted(i.Operator)},
		{"--agent-image=", defaultAgent, i.Agent},
		{"--backup-image=", defaultBackup, i.Backup},
	} {
		// Match up to the line end, because opcrew/opcrew:dev is also the beginning of other names.
		old := place.before + place.old + "\n"
		if !strings.Contains(manifests, old) {
			return "", fmt.Errorf("the manifests do not contain %q, which %s should replace", strings.TrimSpace(old), place.new)
		}
		manifests = strings.ReplaceAll(manifests, old, place.before+place.new+"\n")
	}
	return manifests, nil
}

// quoted returns the name as a YAML string. Without quotes, the bracket of an IPv6 address would start a YAML list.
func quoted(name string) string {
	if strings.HasPrefix(name, "[") {
		return `"` + name + `"`
	}
	return name
}

// writeInstall copies a file of manifests, and puts the names of the three images into the copy. If it fails, it leaves
// no incomplete file.
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
