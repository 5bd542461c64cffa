// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"strings"
)

// summaryPage is the page with the number of fields of every kind.
const summaryPage = "docs/testing.md"

// counts holds the numbers of a kind's fields by effect.
type counts struct {
	effects map[Effect]int
	// shown counts the fields whose effect is tested by a test of the kind, and silent those that were ignored without
	// notice before this table existed.
	all, shown, silent int
}

func (f *File) count() counts {
	out := counts{effects: map[Effect]int{}}
	for _, row := range f.Rows {
		n := len(row.Fields())
		out.all += n
		out.effects[row.Effect] += n
		if row.Shown != "" {
			out.shown += n
		}
		if row.WasSilent != "" {
			out.silent += n
		}
	}
	return out
}

func (c counts) add(other counts) counts {
	for effect, n := range other.effects {
		c.effects[effect] += n
	}
	c.all, c.shown, c.silent = c.all+other.all, c.shown+other.shown, c.silent+other.silent
	return c
}

// line formats the counts as a row of a Markdown table.
func (c counts) line(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d |\n",
		name, c.all, c.effects[Live], c.effects[Rollout], c.effects[Refused], c.effects[NotImplemented], c.shown, c.silent)
}

// Summary returns the number of fields of every kind by effect, as a Markdown table.
func Summary(files []*File) string {
	var out strings.Builder
	out.WriteString("| kind | fields | live | rollout | refused | not implemented | of these shown by a test of the kind | silent before |\n")
	out.WriteString("|---|---|---|---|---|---|---|---|\n")
	sum := counts{effects: map[Effect]int{}}
	for _, f := range files {
		one := f.count()
		out.WriteString(one.line(f.Kind))
		sum = sum.add(one)
	}
	out.WriteString(sum.line("all"))
	out.WriteString("\nSilent before were:\n\n")
	for _, f := range files {
		for _, row := range f.Rows {
			if row.WasSilent != "" {
				fmt.Fprintf(&out, "- %s %s: %s\n", f.Kind, names(row), row.WasSilent)
			}
		}
	}
	return out.String()
}
