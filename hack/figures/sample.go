// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
)

// text is a comment, message or paragraph from the repository, with the lines around it.
type text struct {
	file    string
	line    int
	words   string
	context string
}

// sorts lists the kinds of texts in a sample, and the percentage of the sample that each kind gets.
var sorts = []struct {
	name    string
	percent int
	read    func(root string) ([]text, error)
}{
	{"comment", 60, comments},
	{"status message", 30, messages},
	{"paragraph", 10, paragraphs},
}

// printSample prints randomly chosen texts. The same files with the same seed always give the same sample.
func printSample(out io.Writer, root string, size int, seed string) error {
	chance := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(seed))))
	number := 0
	for _, sort := range sorts {
		texts, err := sort.read(root)
		if err != nil {
			return fmt.Errorf("read each %s: %w", sort.name, err)
		}
		for _, t := range draw(chance, texts, size*sort.percent/100) {
			number++
			fmt.Fprintf(out, "## %d. %s, %s:%d\n\n%s\n", number, sort.name, t.file, t.line, t.words)
			if t.context != "" {
				fmt.Fprintf(out, "\n```go\n%s\n```\n", t.context)
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

// draw chooses n texts at random, or returns all texts if there are fewer than n.
func draw(chance *rand.Rand, texts []text, n int) []text {
	chance.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts[:min(n, len(texts))]
}
