// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"strings"
)

// summaryPage is the page that shows how many fields of each kind have which effect.
const summaryPage = "docs/testing.md"

// counts holds the number of fields of one kind for each effect.
type counts struct {
	effects map[Effect]int
	// shown is the number of fields whose effect another test of the kind shows. silent is the number of fields that
	// opcrew accepted and ignored before this table existed.
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

// line formats the counts as a row of the Markdown table.
func (c counts) line(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d |\n",
		name, c.all, c.effects[Live], c.effects[Rollout], c.effects[Refused], c.effects[NotImplemented], c.shown, c.silent)
}

// Summary returns a Markdown table with the number of fields per kind and effect.
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
	out.WriteString("\nThese fields were silent in earlier versions of opcrew:\n\n| kind | field | what was wrong |\n|---|---|---|\n")
	for _, f := range files {
		for _, row := range f.Rows {
			if row.WasSilent != "" {
				fmt.Fprintf(&out, "| %s | %s | %s |\n", f.Kind, names(row), row.WasSilent)
			}
		}
	}
	return out.String()
}
