// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	beginMark = "<!-- fields: written by `make field-tables` from test/fields/rows -->"
	endMark   = "<!-- end of fields -->"
)

// WritePages writes the table of each kind into its page in docs, and the summary into summaryPage. It replaces the
// text between the begin and end marks. It returns the pages that change. If dry is set, it writes nothing.
func WritePages(root string, files []*File, dry bool) ([]string, error) {
	content := map[string]string{summaryPage: Summary(files)}
	for _, f := range files {
		table, err := f.Table(root)
		if err != nil {
			return nil, err
		}
		if before := content[f.Page]; before != "" { // another kind has the same page
			table = before + "\n**" + f.Kind + "**\n\n" + table
		}
		content[f.Page] = table
	}
	var changed []string
	for _, page := range slices.Sorted(maps.Keys(content)) {
		is, err := write(filepath.Join(root, page), content[page], dry)
		if err != nil {
			return nil, err
		}
		if is {
			changed = append(changed, page)
		}
	}
	return changed, nil
}

// write replaces the text between the marks of a page, and reports whether this changes the page.
func write(page, text string, dry bool) (bool, error) {
	before, err := os.ReadFile(page)
	if err != nil {
		return false, err
	}
	after, err := between(before, text)
	if err != nil {
		return false, fmt.Errorf("%s: %w", page, err)
	}
	if bytes.Equal(before, after) {
		return false, nil
	}
	if dry {
		return true, nil
	}
	return true, os.WriteFile(page, after, 0o644)
}

// between returns the page after it has replaced the text between the begin and end marks with the given table. It
// returns an error if a mark is missing.
func between(page []byte, table string) ([]byte, error) {
	head, rest, ok := bytes.Cut(page, []byte(beginMark+"\n"))
	_, tail, closed := bytes.Cut(rest, []byte(endMark))
	if !ok || !closed {
		return nil, fmt.Errorf("the page needs the lines %q and %q around its table", beginMark, endMark)
	}
	return bytes.Join([][]byte{head, []byte(beginMark + "\n"), []byte(table), []byte(endMark), tail}, nil), nil
}

// Table returns the field table of a kind in Markdown.
func (f *File) Table(root string) (string, error) {
	fields, err := f.Fields(root)
	if err != nil {
		return "", err
	}
	byPath := map[string]Field{}
	for _, field := range fields {
		byPath[field.Path] = field
	}
	var out strings.Builder
	out.WriteString("| field | type | an edit is | |\n|---|---|---|---|\n")
	for _, row := range f.Rows {
		field := byPath[row.Fields()[0]]
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", names(row), field.Type, words[row.Effect], cell(row.notes(field)))
	}
	return out.String(), nil
}

// words maps effects to their descriptions on the pages.
var words = map[Effect]string{
	Live: "applied live", Rollout: "applied by a rollout", Refused: "refused", NotImplemented: "not implemented: condition `FieldsIgnored` names it",
}

func names(row Row) string {
	var out []string
	for _, path := range row.Fields() {
		out = append(out, "`"+strings.TrimPrefix(path, "spec.")+"`")
	}
	return strings.Join(out, ", ")
}

// notes returns the row's note. If the row has none, it returns the start of the field's description.
func (r Row) notes(field Field) string {
	if r.Note != "" {
		return r.Note
	}
	if r.Effect == Refused {
		return r.Says
	}
	if len(r.Paths) > 1 {
		return ""
	}
	first, _, _ := strings.Cut(strings.Join(strings.Fields(field.Doc), " "), ". ")
	return strings.TrimSuffix(first, ".")
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
