// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// table has a row for each measurement and a column for each measured operator. docs/benchmarks.md contains such
// tables.
type table struct {
	title         string
	rows, columns []string
	cells         map[[2]string]string
}

func newTable(format string, args ...any) *table {
	return &table{title: fmt.Sprintf(format, args...), cells: map[[2]string]string{}}
}

// set fills a cell. Rows and columns appear in the order of their first use.
func (tb *table) set(row, column, format string, args ...any) {
	if !slices.Contains(tb.rows, row) {
		tb.rows = append(tb.rows, row)
	}
	if !slices.Contains(tb.columns, column) {
		tb.columns = append(tb.columns, column)
	}
	tb.cells[[2]string{row, column}] = fmt.Sprintf(format, args...)
}

// time fills a cell with a time and its ratio to floor, the time of a client that makes only the necessary writes.
func (tb *table) time(row, column string, took, floor time.Duration) {
	tb.set(row, column, "%.1f s, %.2f", took.Seconds(), took.Seconds()/floor.Seconds())
}

// String formats the table as Markdown.
func (tb *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|%s\n", tb.title, strings.Join(tb.columns, " | "), strings.Repeat("---|", len(tb.columns)+1))
	for _, row := range tb.rows {
		fmt.Fprintf(&b, "| %s |", row)
		for _, column := range tb.columns {
			fmt.Fprintf(&b, " %s |", tb.cells[[2]string{row, column}])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// print prints the table without the line prefix of the test's log, so that it can be copied into docs/benchmarks.md.
func (tb *table) print() { fmt.Printf("\n%s\n", tb) }
