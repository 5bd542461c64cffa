// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// sampleGlossary is a glossary that forbids "foo" and "foo of bar".
const sampleGlossary = "| Term | Meaning |\n|---|---|\n| owner | of a thing, foo |\n\n" +
	oldTable + " Write instead |\n|---|---|\n| foo | again |\n| foo of bar | earlier |\n\nMore.\n"

// user is the name of a Unix user. The glossary forbids this word in all other meanings. The string is split so that
// findWords does not match it here.
const user = "no" + "body"

func TestOldWordsAreFoundInTextAndIdentifiers(t *testing.T) {
	root := tree(t, map[string]string{
		glossary:      sampleGlossary,
		"code.go":     "// made Foo, not afoo\n\nfunc fooIs(aFoo int) { the_foo() } // foo of\tbar",
		"logo.png":    "foo",
		"bin/x.go":    "foo",
		"dist/x.yaml": "foo",
		"hack/script": "foo",
	})
	uses, err := findWords(root)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, u := range uses {
		out.WriteString(u.file + " " + u.word + "\n")
	}
	want := strings.Repeat("code.go foo\n", 4) + "code.go foo of bar\n" + glossary + " foo\nhack/script foo\n"
	if out.String() != want {
		t.Errorf("expected\n%s, got\n%s", want, out.String())
	}
	if len(uses) > 4 && (uses[0].line != 1 || uses[4].line != 3) {
		t.Errorf("expected the lines 1 and 3, got %d and %d", uses[0].line, uses[4].line)
	}
}

func TestNamesAreNotOldWords(t *testing.T) {
	glossaryText := strings.ReplaceAll(sampleGlossary, "foo", user)
	for text, want := range map[string]int{
		user + ":x:65534:65534:" + user + ":/nonexistent": 0,
		"chown " + user + ":nogroup":                      0,
		`the user "` + user + `"`:                         0,
		`Name: "` + user + `"`:                            0,
		"etcd.opcrew.io/" + user:                          0,
		"http.NoBody":                                     0,
		user + " knows":                                   1,
		"etcd.example.com/" + user:                        1,
	} {
		uses, err := findWords(tree(t, map[string]string{glossary: glossaryText, "a/code.go": text}))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(inFolder(uses, "a")); got != want {
			t.Errorf("expected %d old words in %q, got %d", want, text, got)
		}
	}
}

func inFolder(uses []use, folder string) []use {
	var out []use
	for _, u := range uses {
		if u.folder() == folder {
			out = append(out, u)
		}
	}
	return out
}

func TestThePlacesOfOldWordsArePrinted(t *testing.T) {
	uses, err := findWords(tree(t, map[string]string{
		glossary: strings.ReplaceAll(sampleGlossary, "thing, foo", "thing"),
		"a/x.go": "fine\nfoo", "b/y.go": "food", "go.go": "OfAFooBar",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	printWords(&out, uses)
	for _, want := range []string{"a/x.go:2: ", "go.go:1: ", "left: 2\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("expected %q, got\n%s", want, out.String())
		}
	}
}
