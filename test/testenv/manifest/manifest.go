// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads YAML files that users write. A file may have several documents, and comments are kept with
// their object.
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

// Document is one object of a file.
type Document struct {
	// File is the file's base name. Index is the object's number in the file, from 1.
	File  string
	Index int
	// Comments are the document's comment lines, without the leading #.
	Comments []string
	Object   *unstructured.Unstructured
}

// String names the document for messages.
func (d Document) String() string { return fmt.Sprintf("%s#%d", d.File, d.Index) }

// Comment returns the text after "key:" in the first comment that begins with it.
func (d Document) Comment(key string) (string, bool) {
	for _, comment := range d.Comments {
		if value, found := strings.CutPrefix(comment, key+":"); found {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// Read returns the objects of files, in order. For a directory it reads the .yaml files in it, sorted by name.
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
			continue // only comments
		}
		doc.File, doc.Index = filepath.Base(file), len(docs)+1
		docs = append(docs, *doc)
	}
}

// parse converts to JSON first, as kubectl does, so that numbers and unusual values reach the server as they would from
// a user.
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
