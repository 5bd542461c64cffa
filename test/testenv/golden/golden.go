// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package golden compares the output of a test with a file in testdata. `go test -update` writes these files; review
// them before you commit them.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Check compares an object, formatted as YAML, with the file testdata/<name>.
func Check(t *testing.T, name string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (write it with: go test -run '%s' -update)", err, t.Name())
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(bytes.TrimSpace(got))); diff != "" {
		t.Errorf("expected what is in %s (-expected +found):\n%s", file, diff)
	}
}
