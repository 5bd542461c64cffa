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

// edge is a reference from one file of a package to a definition in another file of the same package.
type edge struct{ from, to string }

// countReferences counts the references between files of the package. Several uses of one definition in one file count
// as one reference. countReferences sorts the files so that few references point upward, to an earlier file, and counts
// the references that point upward nevertheless.
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

// edges counts the references between files of the package. It resolves names with Go's type checker, and loads no
// imports, so references to other packages do not count.
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

// lasting reports whether a Go object is a method, or is defined at the top level of the package. A struct field is not
// counted separately from its type.
func lasting(object types.Object, own *types.Package) bool {
	if object.Parent() == own.Scope() {
		return true
	}
	f, is := object.(*types.Func)
	return is && f.Signature().Recv() != nil
}

func base(set *token.FileSet, pos token.Pos) string { return filepath.Base(set.Position(pos).Filename) }

// order sorts files so that few references point upward, to an earlier file. It first sorts by outgoing minus incoming
// references, and then moves single files as long as a move reduces the number of upward references.
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

// bestPlace returns the index to which the file at index from in names should move, so that the fewest references point
// upward. It returns from if no other index is better.
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

// unknown is an importer that returns an empty package for every import path.
type unknown struct{}

func (unknown) Import(path string) (*types.Package, error) {
	imported := types.NewPackage(path, filepath.Base(path))
	imported.MarkComplete()
	return imported, nil
}
