// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// pkg holds the measurements of one Go package. The number of lines excludes tests and generated code.
type pkg struct {
	path       string
	files      int
	lines      int
	functions  []int
	exported   int
	largest    string
	methods    int
	references int
	upward     int
}

// load measures every package of production code, which is in the folders cmd and internal.
func load(root string) ([]pkg, error) {
	var packages []pkg
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			found, has, err := measure(path)
			if has {
				packages = append(packages, found)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", top, err)
		}
	}
	return packages, nil
}

// measure measures the package in one folder. It returns false if the folder contains no production code.
func measure(dir string) (pkg, bool, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return pkg{}, false, err
	}
	set, found := token.NewFileSet(), pkg{path: filepath.ToSlash(dir)}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return pkg{}, false, err
		}
		if !ast.IsGenerated(file) {
			files = append(files, file)
		}
	}
	for _, file := range files {
		found.add(set, file)
	}
	if len(files) > 0 {
		found.countMethods(files)
		found.countReferences(set, files)
	}
	return found, len(files) > 0, nil
}

func (p *pkg) add(set *token.FileSet, file *ast.File) {
	p.files++
	p.lines += set.File(file.Pos()).LineCount()
	for _, declared := range file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			p.functions = append(p.functions, set.Position(d.End()).Line-set.Position(d.Pos()).Line+1)
			if d.Recv == nil && d.Name.IsExported() {
				p.exported++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, is := spec.(*ast.TypeSpec); is && t.Name.IsExported() {
					p.exported++
				}
			}
		}
	}
}

// countMethods finds the type with the most methods, and stores its name and the number of its methods.
func (p *pkg) countMethods(files []*ast.File) {
	methods := map[string]int{}
	for _, file := range files {
		for _, declared := range file.Decls {
			if f, is := declared.(*ast.FuncDecl); is && f.Recv != nil {
				name := receiver(f.Recv.List[0].Type)
				methods[name]++
				if methods[name] > p.methods || methods[name] == p.methods && name < p.largest {
					p.largest, p.methods = name, methods[name]
				}
			}
		}
	}
}

// receiver returns the type name in a method receiver, without the pointer and the type parameters.
func receiver(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func isKit(path string) bool {
	kit := filepath.ToSlash(filepath.Join("internal", "kit"))
	return (path == kit || strings.HasPrefix(path, kit+"/")) && !strings.HasSuffix(path, "/integration")
}
