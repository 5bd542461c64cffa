// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package failing lets a test check that a test helper fails. It calls the helper with a replacement for testing.TB,
// and returns the failure messages.
package failing

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Message calls help and returns its failure messages. It returns "" if help did not fail.
func Message(t testing.TB, help func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	// Use a separate goroutine, because a fatal failure ends the goroutine that reports it.
	go func() {
		defer close(done)
		help(r)
	}()
	<-done
	return strings.Join(r.messages, "\n")
}

// recorder records failures, and passes all other calls to the real test.
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
