// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/test/testenv/manifest"
)

const two = `# about the file

# want: a message: with a colon
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
# only a comment
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {big: 9007199254740993}
`

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestADirectoryIsReadInOrderWithComments(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "2.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
	write(t, dir, "1.yaml", two)
	write(t, dir, "README.md", "not yaml: [")
	docs, err := manifest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, doc := range docs {
		names = append(names, doc.String()+" "+doc.Object.GetName())
	}
	if diff := cmp.Diff([]string{"1.yaml#1 a", "1.yaml#2 b", "2.yaml#1 c"}, names); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if want, found := docs[0].Comment("want"); want != "a message: with a colon" || !found {
		t.Errorf("the comment of the first document: %q, %t", want, found)
	}
	if _, found := docs[1].Comment("want"); found {
		t.Error("a comment belongs to its own document only")
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	docs, err := manifest.Read(write(t, t.TempDir(), "a.yaml", two))
	if err != nil {
		t.Fatal(err)
	}
	data := docs[1].Object.Object["data"].(map[string]any)
	if got := data["big"]; got != int64(9007199254740993) {
		t.Errorf("got %T %v, expected the integer as written", got, got)
	}
}

func TestABrokenFileIsNamed(t *testing.T) {
	for _, content := range []string{"a: [", "metadata: {name: without-a-kind}"} {
		_, err := manifest.Read(write(t, t.TempDir(), "broken.yaml", content))
		if err == nil || !strings.Contains(err.Error(), "broken.yaml: document 1") {
			t.Errorf("%q: expected an error that names file and document, got %v", content, err)
		}
	}
}
