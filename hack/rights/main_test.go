// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/hack/rights/marker"
	"github.com/opcrew/opcrew/hack/rights/table"
)

// root is the path of the repository's root, relative to this package.
const root = "../.."

func layersOf(t *testing.T) []marker.Layer {
	t.Helper()
	layers, err := marker.Layers(root)
	if err != nil {
		t.Fatal(err)
	}
	return layers
}

func TestThePageShowsTheRightsOfTheMarkers(t *testing.T) {
	var want bytes.Buffer
	if err := table.Write(&want, layersOf(t)); err != nil {
		t.Fatal(err)
	}
	found, err := os.ReadFile(root + "/docs/rights.md")
	if err != nil {
		t.Fatal(err)
	}
	if want.String() != string(found) {
		t.Error("expected docs/rights.md to show the rights of the markers: run make rights, and read the diff")
	}
}

func TestNoPageIsWrittenForARightWithoutAReason(t *testing.T) {
	right := marker.Right{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}, At: "kind.go:7"}
	var out bytes.Buffer
	err := table.Write(&out, []marker.Layer{{Name: "data", Rights: []marker.Right{right}}})
	if err == nil || !strings.Contains(err.Error(), "kind.go:7") || out.Len() > 0 {
		t.Errorf("expected an error that names the marker, got %v and\n%s", err, out.String())
	}
}

func TestTheCommittedInstallationCanBeLimitedToNamespaces(t *testing.T) {
	all, err := os.Open(root + "/dist/install.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	var out bytes.Buffer
	if err := narrow(all, &out, layersOf(t), []string{"shop"}); err != nil {
		t.Fatal(err)
	}
	narrowed, err := decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, object := range narrowed {
		if object.GetNamespace() == "shop" {
			count[object.GetKind()]++
		}
	}
	if count["Role"] != 3 || count["RoleBinding"] != 4 || len(count) != 2 {
		t.Errorf("expected a role of each of three layers and its binding in the namespace, and a binding for logs, got %v", count)
	}
}
