// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// fewestWords is the minimum number of words of a comment or message in a sample. A sample leaves out shorter texts.
const fewestWords = 4

// following is the number of lines of code that a sample prints after each comment.
const following = 3

// goFile is a parsed Go file with its source lines.
type goFile struct {
	path  string
	lines []string
	set   *token.FileSet
	*ast.File
}

// eachGo calls f with every Go file in the repository that is not generated.
func eachGo(root string, f func(goFile)) error {
	return eachText(root, func(path, content string) error {
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, content, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(file) {
			f(goFile{path: path, lines: strings.Split(content, "\n"), set: set, File: file})
		}
		return err
	})
}

// shown returns the source lines of a node, followed by the given number of lines after the node.
func (f goFile) shown(node ast.Node, after int) string {
	first, last := f.set.Position(node.Pos()).Line, f.set.Position(node.End()).Line
	return strings.Join(f.lines[first-1:min(last+after, len(f.lines))], "\n")
}

// comments returns the comments of all Go files. It leaves out license headers, markers and directives.
func comments(root string) ([]text, error) {
	var texts []text
	err := eachGo(root, func(f goFile) {
		for _, group := range f.Comments {
			words := prose(group)
			if len(strings.Fields(words)) < fewestWords || strings.HasPrefix(words, "Copyright") {
				continue
			}
			texts = append(texts, text{f.path, f.set.Position(group.Pos()).Line, words, f.shown(group, following)})
		}
	})
	return texts, err
}

// prose returns the text of a comment without marker lines, such as +kubebuilder:rbac.
func prose(group *ast.CommentGroup) string {
	var kept []string
	for line := range strings.Lines(group.Text()) {
		if !strings.HasPrefix(line, "+") {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}
