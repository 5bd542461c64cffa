// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// data is the symlink that a kubelet changes to update all files of a mounted Secret at once.
const data = "..data"

// read returns the files of a mounted Secret, all from the same version of the Secret.
func read(dir string) (map[string][]byte, error) {
	real, err := filepath.EvalSymlinks(filepath.Join(dir, data))
	if errors.Is(err, fs.ErrNotExist) {
		real, err = dir, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || entry.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(real, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
		files[entry.Name()] = content
	}
	return files, nil
}

// missing returns the required files that do not exist.
func missing(files map[string][]byte, required []string) []string {
	var out []string
	for _, name := range required {
		if len(files[name]) == 0 {
			out = append(out, name)
		}
	}
	return out
}
