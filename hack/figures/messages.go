// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// notMessages lists functions whose string arguments are not messages of an operator, but errors, log lines or metric
// help.
var notMessages = map[string]bool{
	"Errorf": true, "New": true, "Info": true, "Error": true, "Warn": true, "Debug": true, "Fatal": true,
	"describe": true, "NewDesc": true, "Event": true, "Print": true, "Println": true, "Fprintln": true,
}

// messages returns the sentences that operators write into statuses and events. A string is a sentence if it has
// several words and begins with a capital letter.
func messages(root string) ([]text, error) {
	var texts []text
	err := eachGo(root, func(f goFile) {
		if !strings.HasPrefix(f.path, "internal/") || strings.HasSuffix(f.path, "_test.go") || isTestHelper(f.path) {
			return
		}
		for _, found := range sentences(f.File) {
			texts = append(texts, text{f.path, f.set.Position(found.at.Pos()).Line, found.words, f.shown(found.at, 0)})
		}
	})
	return texts, err
}

// sentence is a message, and the syntax node of the statement that contains it.
type sentence struct {
	words string
	at    ast.Node
}

func sentences(file *ast.File) []sentence {
	var found []sentence
	var path []ast.Node
	ast.Inspect(file, func(node ast.Node) bool {
		if node == nil {
			path = path[:len(path)-1]
			return true
		}
		if skipped(node) {
			return false
		}
		if e, is := node.(ast.Expr); is {
			if words, is := rendered(e); is {
				if isSentence(words) {
					found = append(found, sentence{words, statement(path, node)})
				}
				return false
			}
		}
		path = append(path, node)
		return true
	})
	return found
}

// skipped reports whether a node can contain no messages, such as an import or a struct field.
func skipped(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.ImportSpec, *ast.Field:
		return true
	case *ast.CallExpr:
		switch f := n.Fun.(type) {
		case *ast.SelectorExpr:
			return notMessages[f.Sel.Name]
		case *ast.Ident:
			return notMessages[f.Name]
		}
	}
	return false
}

// rendered returns the text of a string literal, or of a concatenation that begins with a string literal. It writes "…"
// for parts that are not constant.
func rendered(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		words, err := strconv.Unquote(e.Value)
		return words, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, is := rendered(e.X)
		if !is || e.Op != token.ADD {
			return "", false
		}
		if right, is := rendered(e.Y); is {
			return left + right, true
		}
		return left + "…", true
	}
	return "", false
}

func isSentence(words string) bool {
	first := []rune(words + " ")[0]
	return unicode.IsUpper(first) && len(strings.Fields(words)) >= fewestWords && !strings.Contains(words, "\n")
}

// statement returns the innermost statement or declaration that contains a node.
func statement(path []ast.Node, node ast.Node) ast.Node {
	for _, parent := range slices.Backward(path) {
		switch parent.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.FuncDecl, *ast.GenDecl, *ast.CompositeLit:
			return node
		}
		node = parent
	}
	return node
}
