// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Effect says what happens when a user edits a field of a live object.
type Effect string

// The possible effects of an edit.
const (
	// Live means that the edit takes effect without replacing pods.
	Live Effect = "Live"
	// Rollout means that the edit replaces pods.
	Rollout Effect = "Rollout"
	// Refused means that the API server refuses the edit with a message that says what to do instead.
	Refused Effect = "Refused"
	// NotImplemented means that the API server accepts the edit, but it has no effect. The condition FieldsIgnored
	// names the field.
	NotImplemented Effect = "NotImplemented"
)

// Object is a Kubernetes object decoded from JSON.
type Object = map[string]any

// File holds the rows of one kind.
type File struct {
	Kind string `json:"kind"`
	// CRD is the name of the kind's file in config/crd/bases, or in the folder of a kind that is installed separately.
	// Page is the name of the kind's page in docs.
	CRD  string `json:"crd"`
	Page string `json:"page"`
	// Base is the object that the rows edit, without its name. Needs are other objects that must exist first.
	Base  Object   `json:"base"`
	Needs []Object `json:"needs"`
	// Settled are observations that must hold before an edit. By default, the condition Ready must be True.
	Settled []See     `json:"settled"`
	Include []Include `json:"include"`
	Rows    []Row     `json:"rows"`
}

// Include adds rows that several kinds share, from rows/shared.
type Include struct {
	Group string            `json:"group"`
	At    string            `json:"at"`
	Vars  map[string]string `json:"vars"`
	// With and Pods are the default values for the included rows.
	With Object `json:"with"`
	Pods string `json:"pods"`
}

// Row describes the effect of editing one field, or several fields with the same effect. The package comment describes
// how to write rows.
type Row struct {
	Path   string   `json:"path"`
	Paths  []string `json:"paths"`
	Effect Effect   `json:"effect"`
	Note   string   `json:"note"`
	With   Object   `json:"with"`
	To     any      `json:"to"`
	Edit   Object   `json:"edit"`
	See    []See    `json:"see"`
	Says   string   `json:"says"`
	Pods   string   `json:"pods"`
	Gone   bool     `json:"gone"`
	Shown  string   `json:"shown"`
	// WasSilent describes how opcrew ignored the field before this table existed. It is empty for other fields.
	WasSilent string `json:"wasSilent"`
	// Needs are added to the file's Needs. Settled replaces the file's Settled.
	Needs   []Object `json:"needs"`
	Settled []See    `json:"settled"`
}

// Fields returns the paths of the fields that the row describes.
func (r Row) Fields() []string {
	if r.Path != "" {
		return []string{r.Path}
	}
	return r.Paths
}

// Read returns the tables of all kinds, sorted by kind. root is the root of the repository.
func Read(root string) ([]*File, error) {
	paths, err := filepath.Glob(filepath.Join(root, "test/fields/rows/*.yaml"))
	if err != nil {
		return nil, err
	}
	byKind := map[string]*File{}
	for _, path := range paths {
		f := &File{}
		if err := readStrict(path, nil, f); err != nil {
			return nil, err
		}
		if err := f.include(filepath.Join(filepath.Dir(path), "shared")); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if first := byKind[f.Kind]; first != nil { // a kind with many fields may have several files
			first.Rows = append(first.Rows, f.Rows...)
			continue
		}
		byKind[f.Kind] = f
	}
	var files []*File
	for _, f := range byKind {
		slices.SortFunc(f.Rows, func(a, b Row) int { return cmp.Compare(a.Fields()[0], b.Fields()[0]) })
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *File) int { return cmp.Compare(a.Kind, b.Kind) })
	return files, nil
}

// include adds the shared rows that the file names.
func (f *File) include(folder string) error {
	for _, in := range f.Include {
		var rows []Row
		if err := readStrict(filepath.Join(folder, in.Group+".yaml"), in.Vars, &rows); err != nil {
			return err
		}
		for _, row := range rows {
			row.Path = in.At + "." + row.Path
			row.With = Merge(in.With, row.With)
			row.Pods = cmp.Or(row.Pods, in.Pods)
			f.Rows = append(f.Rows, row)
		}
	}
	return nil
}

func readStrict(path string, vars map[string]string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(raw)
	for name, value := range vars {
		text = strings.ReplaceAll(text, "$"+name, value)
	}
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
