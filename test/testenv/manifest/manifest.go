// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads YAML files with manifests. A file may contain several documents. Each object keeps the
// comments in its document.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// Document is one object in a file.
type Document struct {
	// File is the base name of the file. Index is the number of the object in the file, starting at 1.
	File  string
	Index int
	// Comments are the comment lines in the document, without the leading #.
	Comments []string
	Object   *unstructured.Unstructured
}

// String returns the name of the document for messages: the file and the number.
func (d Document) String() string { return fmt.Sprintf("%s#%d", d.File, d.Index) }

// Comment returns the text after "key:" in the first comment that starts with it. It returns false if there is none.
func (d Document) Comment(key string) (string, bool) {
	for _, comment := range d.Comments {
		if value, found := strings.CutPrefix(comment, key+":"); found {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// Read returns the objects in files, in order. For a directory, it reads all .yaml files in it, sorted by name.
func Read(paths ...string) ([]Document, error) {
	var all []Document
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			docs, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, docs...)
		}
	}
	return all, nil
}

func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
	slices.Sort(files)
	return files, err
}

func readFile(file string) ([]Document, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var docs []Document
	for reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		doc, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(docs)+1, err)
		}
		if doc == nil {
			continue // the document contains only comments
		}
		doc.File, doc.Index = filepath.Base(file), len(docs)+1
		docs = append(docs, *doc)
	}
}

// parse reads one document. It first converts the YAML to JSON, as kubectl does, so that the API server receives
// numbers and unusual values in the same form as from kubectl.
func parse(text []byte) (*Document, error) {
	content, err := sigsyaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	if string(content) == "null" {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(content); err != nil {
		return nil, err
	}
	return &Document{Comments: comments(text), Object: object}, nil
}

func comments(text []byte) []string {
	var found []string
	for line := range strings.Lines(string(text)) {
		if comment, is := strings.CutPrefix(line, "#"); is {
			found = append(found, strings.TrimSpace(comment))
		}
	}
	return found
}
