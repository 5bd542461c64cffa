// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	glossary = "docs/glossary.md"
	oldTable = "| Old word |"
)

// use is one occurrence of a word that the glossary forbids.
type use struct {
	word, file string
	line       int
}

func (u use) folder() string { return filepath.ToSlash(filepath.Dir(u.file)) }

// exempt matches occurrences of forbidden words that are allowed because they are names: a Unix user, quoted users in
// tests, and keys of stored annotations.
var exempt = regexp.MustCompile(`no[b]ody(:x:|:nogroup|/nogroup|:/)|user "?no[b]ody|"[a-z/]*no[b]ody"|\bopcrew\.io/[a-z/-]+`)

// generated lists folders that findWords skips. Their text is generated from Go comments, or comes from Kubernetes.
var generated = []string{"applyconfigurations", "config/crd/bases", "config/machineconfig/bases", "dist"}

// humps matches the boundaries between words in an identifier. "OfANew", for example, is split into three words.
var humps = []*regexp.Regexp{regexp.MustCompile(`([A-Z])([A-Z][a-z])`), regexp.MustCompile(`([a-z0-9])([A-Z])`)}

// findWords returns every occurrence of a word that the glossary's second table forbids, sorted by file and line.
func findWords(root string) ([]use, error) {
	pattern, err := oldWords(filepath.Join(root, glossary))
	if err != nil {
		return nil, err
	}
	var uses []use
	err = eachText(root, func(file, text string) error {
		uses = append(uses, usesIn(file, text, pattern)...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find words: %w", err)
	}
	return uses, nil
}

func usesIn(file, text string, pattern *regexp.Regexp) []use {
	if file == glossary {
		text, _, _ = strings.Cut(text, oldTable)
	}
	text = exempt.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "_", " ")
	for _, hump := range humps {
		text = hump.ReplaceAllString(text, "$1 $2")
	}
	var uses []use
	for _, at := range pattern.FindAllStringIndex(text, -1) {
		word := strings.Join(strings.Fields(strings.ToLower(text[at[0]:at[1]])), " ")
		uses = append(uses, use{word, file, 1 + strings.Count(text[:at[0]], "\n")})
	}
	return uses
}

// oldWords returns a pattern that matches the words that the glossary forbids: the first column of its second table.
// Long entries come first, so that the pattern matches a phrase before one of the phrase's words.
func oldWords(file string) (*regexp.Regexp, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, table, found := strings.Cut(string(content), oldTable)
	if !found {
		return nil, fmt.Errorf("%s has no table of old words", file)
	}
	var words []string
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			break
		}
		word := regexp.QuoteMeta(strings.TrimSpace(cells[1]))
		words = append(words, strings.ReplaceAll(word, " ", `\s+`))
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	return regexp.Compile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
}

// eachText calls f with every text file of the repository. The path that f gets is relative to root.
func eachText(root string, f func(file, text string) error) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isSkipped(root, path):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !isText(path):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return f(below(root, path), string(content))
	})
}

func isSkipped(root, path string) bool {
	return filepath.Base(path) == "bin" || filepath.Base(path) == ".git" || slices.Contains(generated, below(root, path))
}

// below returns a path relative to root.
func below(root, path string) string {
	if file, err := filepath.Rel(root, path); err == nil {
		path = file
	}
	return filepath.ToSlash(path)
}

// isText reports whether a file may contain text that opcrew's authors wrote. Scripts have no extension.
func isText(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".md", ".yaml", ".yml", ".sh", ".html", ".txt", "":
		return filepath.Base(path) != "LICENSE"
	}
	return false
}

// printWords prints the occurrences of forbidden words, and the number of occurrences.
func printWords(out io.Writer, uses []use) {
	for _, u := range uses {
		fmt.Fprintf(out, "%s:%d: %q is an old word, see %s\n", u.file, u.line, u.word, glossary)
	}
	fmt.Fprintf(out, "glossary words left: %d\n", len(uses))
}
