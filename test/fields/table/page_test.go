// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"flag"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/internal/kit"
)

const root = "../../.."

var update = flag.Bool("update", false, "write the tables into the pages")

func TestEveryFieldOfEveryKindHasARow(t *testing.T) {
	files, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if n := number(kinds.All()); len(files) != n {
		t.Errorf("expected a table for each of %d kinds, got %d", n, len(files))
	}
	for _, f := range files {
		if err := f.Check(root); err != nil {
			t.Error(err)
		}
	}
}

// number returns the number of kinds. An opt-in registration serves all kinds whose CRDs it names; another one may also
// name CRDs of kinds that it reads.
func number(registrations []kit.Registration) int {
	n := 0
	for _, r := range registrations {
		if r.OptIn {
			n += len(r.CRDs)
		} else {
			n++
		}
	}
	return n
}

func TestThePagesShowTheTables(t *testing.T) {
	files, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	stale, err := WritePages(root, files, !*update)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 && !*update {
		t.Errorf("%s: the field tables differ from test/fields/rows; run make field-tables and commit the result", strings.Join(stale, ", "))
	}
}

func TestFieldsAreCountedByEffectOneByOne(t *testing.T) {
	files := []*File{
		{Kind: "A", Rows: []Row{{Path: "spec.a", Effect: Live, Shown: "x.TestX"}, {Paths: []string{"spec.b", "spec.c"}, Effect: NotImplemented}}},
		{Kind: "B", Rows: []Row{{Path: "spec.d", Effect: Rollout, WasSilent: "it did nothing"}, {Path: "spec.e", Effect: Refused}}},
	}
	got := Summary(files)
	for _, want := range []string{
		"| A | 3 | 1 | 0 | 0 | 2 | 1 | 0 |\n", "| B | 2 | 0 | 1 | 1 | 0 | 0 | 1 |\n", "| all | 5 | 1 | 1 | 1 | 2 | 1 | 1 |\n",
		"| B | `d` | it did nothing |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("expected %q in\n%s", want, got)
		}
	}
}
