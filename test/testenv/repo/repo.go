// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package repo returns the paths of files in the repository. The paths do not depend on the folder of the test, so that
// tests can be moved.
package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/opcrew/opcrew"

// Root returns the folder with the project's go.mod. It searches upwards from the working directory.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module "+module+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside a clone of %s", start, module)
		}
	}
}

// Path returns the absolute path of a file in the repository. The file need not exist.
func Path(t testing.TB, parts ...string) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{root}, parts...)...)
}
