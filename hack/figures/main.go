// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command figures measures the structure and the language of the repository: the size of packages and types, the
// references between files of a package, the number of exported names in internal/kit, and the words in the repository
// that the glossary forbids.
//
//	go run ./hack/figures [-all]                 prints what exceeds a limit (-all: every package)
//	go run ./hack/figures -check                 fails if a limit is exceeded or a forbidden word remains
//	go run ./hack/figures -imports               fails if a package imports a package of a higher layer
//	go run ./hack/figures -seed S [-sample N]    prints randomly chosen comments, messages and paragraphs
//
// make verify runs -imports and -check.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
)

// The limits that docs/architecture.md sets.
const (
	mostLines   = 2500 // lines in a package
	mostMethods = 30   // methods of a type
	mostUpward  = 10   // percent of the references between the files of a package that may point to an earlier file
	mostKit     = 30   // exported types and functions in internal/kit and its packages
)

func main() {
	check := flag.Bool("check", false, "fail if a limit is exceeded or a forbidden word remains")
	all := flag.Bool("all", false, "print every package, not only those that exceed a limit")
	imports := flag.Bool("imports", false, "check only imports, and fail if a package imports a package of a higher layer")
	size := flag.Int("sample", 100, "number of texts in a sample: 60 % comments, 30 % status messages, 10 % documentation paragraphs")
	seed := flag.String("seed", "", "print a sample that is selected by this text, such as the hash of a commit")
	flag.Parse()
	switch {
	case *imports:
		wrong, err := printImports(os.Stdout, ".")
		exit(wrong > 0, err)
	case *seed != "":
		exit(false, printSample(os.Stdout, ".", *size, *seed))
	}
	exceeded, err := run(os.Stdout, ".", *all)
	exit(*check && exceeded > 0, err)
}

func exit(failed bool, err error) {
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
	os.Exit(0)
}

// run prints the measurements of the repository at root, and returns the number of exceeded limits.
func run(out io.Writer, root string, all bool) (int, error) {
	packages, err := load(root)
	if err != nil {
		return 0, err
	}
	uses, err := findWords(root)
	if err != nil {
		return 0, err
	}
	exceeded := printPackages(out, packages, all) + printKit(out, packages) + len(uses)
	printTotals(out, packages)
	printWords(out, uses)
	return exceeded, nil
}

func printPackages(out io.Writer, packages []pkg, all bool) int {
	exceeded := 0
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PACKAGE\tFILES\tLINES\tREFERENCES\tUPWARD\tLARGEST TYPE\tMETHODS")
	slices.SortFunc(packages, func(a, b pkg) int { return cmp.Compare(b.lines, a.lines) })
	for _, p := range packages {
		over := p.over()
		exceeded += over
		if over == 0 && !all {
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d (%d %%)\t%s\t%d\n",
			p.path, p.files, p.lines, p.references, p.upward, p.percent(), p.largest, p.methods)
	}
	_ = table.Flush()
	return exceeded
}

// over returns the number of limits that the package exceeds.
func (p pkg) over() int {
	over := 0
	for _, exceeds := range []bool{p.lines > mostLines, p.methods > mostMethods, p.percent() > mostUpward} {
		if exceeds {
			over++
		}
	}
	return over
}

// percent returns the percentage of the references between files that point upward, to an earlier file. It rounds up,
// so that a share above the limit never appears to equal the limit.
func (p pkg) percent() int {
	if p.references == 0 {
		return 0
	}
	return (100*p.upward + p.references - 1) / p.references
}

func printKit(out io.Writer, packages []pkg) int {
	concepts := 0
	for _, p := range packages {
		if isKit(p.path) {
			concepts += p.exported
		}
	}
	fmt.Fprintf(out, "\nexported types and functions of internal/kit and its packages: %d\n", concepts)
	if concepts > mostKit {
		return 1
	}
	return 0
}

func printTotals(out io.Writer, packages []pkg) {
	lines, functions := 0, []int{}
	for _, p := range packages {
		lines += p.lines
		functions = append(functions, p.functions...)
	}
	slices.Sort(functions)
	fmt.Fprintf(out, "production lines outside api, test and hack: %d; lines of a function: median %d, 90th percentile %d\n",
		lines, functions[len(functions)/2], functions[len(functions)*9/10])
}
