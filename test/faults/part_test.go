// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryCaseIsInExactlyOnePart(t *testing.T) {
	for _, of := range []int{1, 2, 7} {
		sizes := make([]int, of)
		for k := range 700 {
			var in []string
			for i := range of {
				p, err := parsePart(fmt.Sprintf("%d/%d", i+1, of))
				if err != nil {
					t.Fatal(err)
				}
				if p.has(fmt.Sprintf("small/lost/%d", k)) {
					in = append(in, p.String())
					sizes[i]++
				}
			}
			if len(in) != 1 {
				t.Errorf("expected case %d of 700 to belong to one of %d parts, it belongs to %v", k, of, in)
			}
		}
		if least, even := slices.Min(sizes), 700/of; least < even/2 {
			t.Errorf("expected %d parts of about %d cases each, they have %v", of, even, sizes)
		}
	}
}

func TestAPartIsANumberOfSeveral(t *testing.T) {
	for _, text := range []string{"2", "0/3", "4/3", "1/3x", "01/3", "a/b", "1/"} {
		if p, err := parsePart(text); err == nil {
			t.Errorf("expected %q to be refused, got %v", text, p)
		}
	}
	if p, err := parsePart(""); err != nil || !p.has("small/lost/1") {
		t.Errorf("expected all cases in one part without -faults.part, got %v (%v)", p, err)
	}
}

// A time limit may cut off the end of a sample, so the sample must start with a case of every class.
func TestASampleHasEveryClassBeforeAnyComesAgain(t *testing.T) {
	var jobs []job
	for _, name := range []string{"crash/1", "crash/2", "lost/1", "crash/3", "late/1", "lost/2"} {
		class, _, _ := strings.Cut(name, "/")
		jobs = append(jobs, job{name: name, class: class})
	}
	var got []string
	for _, j := range inTurns(jobs) {
		got = append(got, j.name)
	}
	if want := []string{"crash/1", "lost/1", "late/1", "crash/2", "lost/2", "crash/3"}; !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
}

// make faults runs only the parts that the file "parts" lists. A test that is missing in this file would never run.
func TestTheListOfPartsHasEveryAttack(t *testing.T) {
	listed := map[string]bool{}
	for line := range strings.Lines(read(t, "parts")) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			listed[name] = true
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	attacks := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		for _, test := range regexp.MustCompile(`(?s)func Test(\w+)\(t \*testing\.T\) \{(.*?)\n\}`).FindAllStringSubmatch(read(t, file.Name()), -1) {
			if !regexp.MustCompile(`\tfaults\.Attack\(t, |:= faults\.NewHunt\(t, `).MatchString(test[2]) {
				continue
			}
			if attacks++; !listed[test[1]] {
				t.Errorf("expected test/faults/parts to list %s of %s", test[1], file.Name())
			}
		}
	}
	if attacks != len(listed) {
		t.Errorf("expected as many attacks as test/faults/parts lists, got %d for %d", attacks, len(listed))
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
