// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package failing lets a test prove that a test helper can fail: it runs the
// helper with a stand-in for testing.TB and returns what the helper complained of.
package failing

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Message runs help and returns its failure messages, "" when it did not fail.
func Message(t testing.TB, help func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	// A goroutine of its own, since a fatal failure ends the goroutine it happens in.
	go func() {
		defer close(done)
		help(r)
	}()
	<-done
	return strings.Join(r.messages, "\n")
}

// recorder passes everything on to the real test but failures.
type recorder struct {
	testing.TB
	messages []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.messages = append(r.messages, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
