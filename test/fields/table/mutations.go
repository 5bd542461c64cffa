// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math"
	"strings"
)

// Mutation is a change of a live object. The new value may be nonsense.
type Mutation struct {
	// Name names the changed field and the new value.
	Name string
	// Change is the merge patch that changes the object.
	Change Object
}

// Mutations returns the edits that the rows describe, and edits that set each field to nonsense values.
func (f *File) Mutations(root string) ([]Mutation, error) {
	fields, err := f.Fields(root)
	if err != nil {
		return nil, err
	}
	var out []Mutation
	for _, row := range f.Rows {
		if row.To == nil && row.Edit == nil {
			continue // Check reports this error
		}
		for _, path := range row.Fields() {
			change := Merge(row.With, row.Change(path, Merge(f.Base, row.With)))
			out = append(out, Mutation{path + ": the edit of its row", change})
		}
	}
	for _, field := range fields {
		for _, value := range nonsense(field) {
			row := Row{To: value.value}
			out = append(out, Mutation{field.Path + ": " + value.name, row.Change(field.Path, f.Base)})
		}
	}
	return out, nil
}

type named struct {
	name  string
	value any
}

// nonsense returns nonsense values for a field, both of the field's type and of a similar type.
func nonsense(field Field) []named {
	switch {
	case field.Schema.XIntOrString || field.Schema.Type == "integer":
		return []named{{"negative", -1}, {"huge", int64(math.MaxInt64)}, {"a word", "many"}}
	case field.Schema.Type == "string":
		return []named{{"empty", ""}, {"huge", strings.Repeat("x", 70_000)}, {"wrong unicode", "\u202e\ufeff\u0000\ufffd"}, {"an unknown name", "no-such-thing"}}
	case field.Schema.Type == "boolean":
		return []named{{"a word", "yes"}}
	case field.Schema.Type == "array":
		return []named{{"empty", []any{}}, {"an empty item", []any{Object{}}}, {"an item that is null", []any{nil}}}
	case field.Schema.AdditionalProperties != nil:
		return []named{{"an empty key", Object{"": ""}}, {"wrong unicode", Object{"\u202e": "\u202e"}}}
	case field.Schema.Type == "object":
		return []named{{"empty", Object{}}, {"a word", "yes"}}
	}
	return []named{{"a word", "yes"}, {"negative", -1}, {"wrong unicode", "\u202e"}}
}
