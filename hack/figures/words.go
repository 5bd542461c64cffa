// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const glossary = "docs/glossary.md"

// count is how often a word stands in the tree.
type count struct {
	text  string
	times int
}

// notOpcrews are uses of a glossary word that are not opcrew's own: the Unix user, and Go's package testing.
var notOpcrews = regexp.MustCompile(`(?i)nobody(:x:|:nogroup|/nogroup)|user "?nobody|http\.NoBody|nobody:`)

// leftWords counts the words of the second table of the glossary in code, docs, manifests and scripts.
func leftWords(root string) ([]count, error) {
	words, err := oldWords(filepath.Join(root, glossary))
	if err != nil {
		return nil, err
	}
	times := map[string]int{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "bin" || strings.HasPrefix(entry.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !isText(path) || path == filepath.Join(root, glossary) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := notOpcrews.ReplaceAllString(string(content), "")
		for word, pattern := range words {
			times[word] += len(pattern.FindAllStringIndex(text, -1))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("count words: %w", err)
	}
	return sorted(times), nil
}

// oldWords reads the first column of the table of words that are not used.
func oldWords(file string) (map[string]*regexp.Regexp, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, table, found := strings.Cut(string(content), "| Old word |")
	if !found {
		return nil, fmt.Errorf("%s has no table of old words", file)
	}
	words := map[string]*regexp.Regexp{}
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			break
		}
		word := strings.TrimSpace(cells[1])
		words[word] = regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word) + `\b`)
	}
	return words, nil
}

func isText(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".md", ".yaml", ".yml", ".sh", ".html":
		return true
	}
	return filepath.Base(path) == "Makefile"
}

func sorted(times map[string]int) []count {
	var words []count
	for text, n := range times {
		if n > 0 {
			words = append(words, count{text, n})
		}
	}
	slices.SortFunc(words, func(a, b count) int {
		if a.times != b.times {
			return b.times - a.times
		}
		return compareNames(a.text, b.text)
	})
	return words
}
