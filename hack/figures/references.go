// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
)

// edge means that one file of a package refers to a definition in another file.
type edge struct{ from, to string }

// countReferences counts which definitions each file uses of the package's other files, each once per file. Upward
// references point against the order of files that has the fewest of them. A package with layered files has none.
func (p *pkg) countReferences(set *token.FileSet, files []*ast.File) {
	weights := edges(set, files)
	var names []string
	for _, file := range files {
		names = append(names, filepath.Base(set.File(file.Pos()).Name()))
	}
	for _, n := range weights {
		p.references += n
	}
	p.upward = upward(order(names, weights), weights)
}

// edges resolves names with Go's type checker. Imports are not loaded, so references through them are not counted.
func edges(set *token.FileSet, files []*ast.File) map[edge]int {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: unknown{}, Error: func(error) {}}
	own, _ := config.Check("measured", set, files, info)
	seen := map[edge]map[types.Object]bool{}
	for name, object := range info.Uses {
		if object.Pkg() != own || !lasting(object, own) {
			continue
		}
		e := edge{base(set, name.Pos()), base(set, object.Pos())}
		if e.from == e.to {
			continue
		}
		if seen[e] == nil {
			seen[e] = map[types.Object]bool{}
		}
		seen[e][object] = true
	}
	weights := map[edge]int{}
	for e, objects := range seen {
		weights[e] = len(objects)
	}
	return weights
}

// lasting reports whether the package itself defines an object, or the object is a method. Fields count with their
// type.
func lasting(object types.Object, own *types.Package) bool {
	if object.Parent() == own.Scope() {
		return true
	}
	f, is := object.(*types.Func)
	return is && f.Signature().Recv() != nil
}

func base(set *token.FileSet, pos token.Pos) string { return filepath.Base(set.Position(pos).Filename) }

// order sorts files so that few references point upward. It starts with the files that refer to others most and are
// referred to least, and then moves single files while that helps.
func order(names []string, weights map[edge]int) []string {
	out, in := map[string]int{}, map[string]int{}
	for e, n := range weights {
		out[e.from] += n
		in[e.to] += n
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := (out[b] - in[b]) - (out[a] - in[a]); d != 0 {
			return d
		}
		return compareNames(a, b)
	})
	for improved := true; improved; {
		improved = false
		for from := range names {
			if to := bestPlace(names, from, weights); to != from {
				name := names[from]
				names = slices.Insert(slices.Delete(names, from, from+1), to, name)
				improved = true
			}
		}
	}
	return names
}

// bestPlace returns the position with the fewest upward references for the file at from, or from if no other position
// is better.
func bestPlace(names []string, from int, weights map[edge]int) int {
	best, gain := from, 0
	for _, step := range []int{-1, 1} {
		sum := 0
		for to := from + step; to >= 0 && to < len(names); to += step {
			down, up := weights[edge{names[from], names[to]}], weights[edge{names[to], names[from]}]
			sum += step * (down - up)
			if sum < gain {
				best, gain = to, sum
			}
		}
	}
	return best
}

func upward(names []string, weights map[edge]int) int {
	total := 0
	for e, n := range weights {
		if slices.Index(names, e.from) > slices.Index(names, e.to) {
			total += n
		}
	}
	return total
}

func compareNames(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// unknown is an importer that returns an empty package for every path.
type unknown struct{}

func (unknown) Import(path string) (*types.Package, error) {
	imported := types.NewPackage(path, filepath.Base(path))
	imported.MarkComplete()
	return imported, nil
}
