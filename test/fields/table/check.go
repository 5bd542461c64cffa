// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Check compares the rows of a kind with the fields in its CRD. Every field must have a row, every row must describe an
// existing field, and the test of every row must be able to fail.
func (f *File) Check(root string) error {
	fields, err := f.Fields(root)
	if err != nil {
		return err
	}
	var wrong []error
	rows := map[string]int{}
	for _, row := range f.Rows {
		for _, path := range row.Fields() {
			rows[path]++
			if !slices.ContainsFunc(fields, func(field Field) bool { return field.Path == path }) {
				wrong = append(wrong, fmt.Errorf("%s has no field %s", f.Kind, path))
			}
		}
		if err := row.check(root); err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s: %w", f.Kind, strings.Join(row.Fields(), ", "), err))
		}
	}
	for _, field := range fields {
		switch n := rows[field.Path]; {
		case n == 0 && !field.Holds:
			wrong = append(wrong, fmt.Errorf("%s %s has no row: add what an edit of it does to test/fields/rows", f.Kind, field.Path))
		case n > 1:
			wrong = append(wrong, fmt.Errorf("%s %s has %d rows", f.Kind, field.Path, n))
		}
	}
	return errors.Join(wrong...)
}

// check returns an error if a row contradicts itself, or if its test could never fail.
func (r Row) check(root string) error {
	switch {
	case len(r.Fields()) == 0:
		return errors.New("the row names no field; set path or paths")
	case r.Shown != "":
		return r.shownIn(root)
	case r.Effect == Refused && r.Says == "":
		return errors.New("a row with effect Refused needs says: what the user should do instead")
	case r.Effect == Live && len(r.See) == 0:
		return errors.New("a row with effect Live needs see: what shows the effect")
	case r.Effect == Rollout && len(r.See) == 0:
		return errors.New("a row with effect Rollout needs see: what the new pods have")
	case !slices.Contains([]Effect{Live, Rollout, Refused, NotImplemented}, r.Effect):
		return fmt.Errorf("%q is not a valid effect", r.Effect)
	}
	return nil
}

// shownIn returns an error unless the repository contains the test that the row names in its field "shown".
func (r Row) shownIn(root string) error {
	folder, name, ok := strings.Cut(r.Shown, ".Test")
	if !ok {
		return fmt.Errorf("shown: %q is not <folder>.<test>", r.Shown)
	}
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		return err
	}
	head := regexp.MustCompile(`(?m)^func Test` + regexp.QuoteMeta(name) + `\(`)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if head.Match(raw) {
			return nil
		}
	}
	return fmt.Errorf("shown: there is no test %s in %s", "Test"+name, folder)
}
