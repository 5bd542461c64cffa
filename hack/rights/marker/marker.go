// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package marker reads the operator's RBAC rights from the markers in its code. The comment above a marker is the
// reason for the right:
//
//	// Read and write the Services of an object.
//	// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch
//
// controller-gen generates the roles in config/layers from the same markers, and ignores the reasons.
package marker

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

const prefix = "+kubebuilder:rbac:"

// Right is the RBAC right that one marker requests.
type Right struct {
	// Kind is the kind of custom resource whose package contains the marker. It is "" for a right that every layer has.
	Kind string
	// Namespace is the only namespace to which the right applies, if it is set. Role is the name of a separate role for
	// the right, if it is set.
	Namespace, Role string
	Groups          []string
	Resources       []string
	// Names limits the right to objects with these names. If it is empty, the right applies to all objects.
	Names []string
	Verbs []string
	// Reason is the comment above the marker. At is the marker's position in the code.
	Reason, At string
}

// OfPackage returns the rights of all markers in the Go files below a folder. It sets their Kind to kind.
func OfPackage(folder, kind string) ([]Right, error) {
	var rights []Right
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		found, err := ofFile(path)
		rights = append(rights, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the rights in %s: %w", folder, err)
	}
	for i := range rights {
		rights[i].Kind = kind
	}
	return rights, nil
}

func ofFile(path string) ([]Right, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var rights []Right
	for _, group := range file.Comments {
		found, err := ofComment(set, group)
		if err != nil {
			return nil, err
		}
		rights = append(rights, found...)
	}
	return rights, nil
}

// ofComment returns the rights of the markers in a comment. The reason for a right is the text between its marker and
// the previous marker or empty line.
func ofComment(set *token.FileSet, group *ast.CommentGroup) ([]Right, error) {
	var rights []Right
	var reason []string
	for _, comment := range group.List {
		line := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
		text, is := strings.CutPrefix(line, prefix)
		switch {
		case is:
			at := set.Position(comment.Pos())
			right, err := parse(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
			right.Reason, right.At = strings.Join(reason, " "), fmt.Sprintf("%s:%d", filepath.ToSlash(at.Filename), at.Line)
			rights, reason = append(rights, right), nil
		case line == "":
			reason = nil
		default:
			reason = append(reason, line)
		}
	}
	return rights, nil
}

// parse reads the settings of a marker: groups="",resources=pods;secrets,verbs=get;list.
func parse(text string) (Right, error) {
	var right Right
	for setting := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(setting, "=")
		values := strings.Split(strings.Trim(value, `"`), ";")
		switch name {
		case "groups":
			right.Groups = values
		case "resources":
			right.Resources = values
		case "resourceNames":
			right.Names = values
		case "verbs":
			right.Verbs = values
		case "namespace":
			right.Namespace = values[0]
		case "roleName":
			right.Role = values[0]
		default:
			return Right{}, fmt.Errorf("a marker has the unknown setting %q", name)
		}
	}
	if len(right.Groups) == 0 || len(right.Resources) == 0 || len(right.Verbs) == 0 {
		return Right{}, fmt.Errorf("a marker needs groups, resources and verbs, got %q", text)
	}
	return right, nil
}

// Each calls f for every combination of the right's groups, resources, names and verbs. If the right covers all names,
// name is "".
func (r Right) Each(f func(group, resource, name, verb string)) {
	names := r.Names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range r.Groups {
		for _, resource := range r.Resources {
			for _, name := range names {
				for _, verb := range r.Verbs {
					f(group, resource, name, verb)
				}
			}
		}
	}
}

// Reads reports whether the right only allows reading.
func (r Right) Reads() bool {
	return !slices.ContainsFunc(r.Verbs, func(verb string) bool { return !slices.Contains([]string{"get", "list", "watch"}, verb) })
}
