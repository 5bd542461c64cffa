// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
)

// paragraphWords is the minimum number of words of a paragraph in a sample. Shorter paragraphs only introduce a list or
// a command.
const paragraphWords = 12

// item matches the start of a list item.
var item = regexp.MustCompile(`^ *([-*]|\d+\.) `)

// paragraphs returns the paragraphs and list items of the documentation pages.
func paragraphs(root string) ([]text, error) {
	var texts []text
	err := eachText(root, func(path, content string) error {
		if strings.HasSuffix(path, ".md") {
			texts = append(texts, paragraphsOf(path, content)...)
		}
		return nil
	})
	return texts, err
}

func paragraphsOf(path, content string) []text {
	var texts []text
	var block []string
	fenced := false
	for i, line := range strings.Split(content+"\n", "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence || line == "" || isHeadingOrTable(line) || item.MatchString(line) {
			if words := strings.Join(block, "\n"); len(strings.Fields(words)) >= paragraphWords {
				texts = append(texts, text{file: path, line: i + 1 - len(block), words: words})
			}
			block = nil
		}
		if fence {
			fenced = !fenced
		}
		if !fenced && !fence && line != "" && !isHeadingOrTable(line) {
			block = append(block, line)
		}
	}
	return texts
}

func isHeadingOrTable(line string) bool {
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|")
}
