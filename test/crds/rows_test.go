// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// row is a manifest to create, or an update of an object from old to obj.
type row struct {
	name     string
	old, obj *unstructured.Unstructured
	// want is a part of the message with which the server must refuse the manifest. wantApply is the same for
	// server-side apply. Both are empty if the server must accept the manifest.
	want, wantApply string
}

// readRows returns the rows (the manifests to test) in the directory of one kind.
func readRows(dir string) ([]row, error) {
	var rows []row
	for _, verdict := range []string{"accept", "refuse"} {
		files, err := filepath.Glob(filepath.Join(dir, verdict, "*"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if filepath.Ext(file) != ".yaml" {
				return nil, fmt.Errorf("%s would be overlooked: rows stand in .yaml files", file)
			}
			docs, err := manifest.Read(file)
			if err != nil {
				return nil, err
			}
			of, err := rowsOf(docs, verdict == "refuse")
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			rows = append(rows, of...)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no rows in accept/*.yaml or refuse/*.yaml", dir)
	}
	return rows, nil
}

// rowsOf returns the rows (the manifests to test) in the documents of one file.
func rowsOf(docs []manifest.Document, refuse bool) ([]row, error) {
	if len(docs) == 0 {
		return nil, errors.New("the file contains no object")
	}
	step := 1
	if slices.Contains(docs[0].Comments, "update") {
		step = 2
	}
	if len(docs)%step != 0 {
		return nil, fmt.Errorf("a file with `# update` needs pairs of documents, but has %d documents", len(docs))
	}
	var rows []row
	for pair := range slices.Chunk(docs, step) {
		r := row{name: pair[step-1].String(), obj: pair[step-1].Object}
		if step == 2 {
			r.old = pair[0].Object
		}
		if err := r.expect(append(slices.Clone(pair), docs[0]), refuse); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// expect sets the expected messages of a row. It takes them from the first document with a "want" comment. Callers pass
// the row's own document, followed by the first document of the file.
func (r *row) expect(docs []manifest.Document, refuse bool) error {
	for _, doc := range docs {
		want, found := doc.Comment("want")
		if !found || r.want != "" {
			continue
		}
		r.want, r.wantApply = want, want
		if apply, found := doc.Comment("want-apply"); found {
			r.wantApply = apply
		}
	}
	switch {
	case refuse && r.want == "":
		return errors.New("a manifest that must be refused needs a line `# want: <part of the message>`")
	case !refuse && r.want != "":
		return errors.New("a manifest that must be accepted cannot have a line `# want:`")
	}
	return nil
}

// folders returns the names of the directories in testdata, one for each kind.
func folders() ([]string, error) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
