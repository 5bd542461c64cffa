// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// lastWords is an environment variable that contains the output to print before the separate process ends.
const lastWords = "OPCREW_TEST_LAST_WORDS"

// TestMain also simulates the separate process: Apart starts the test binary again, with Subcommand as its argument.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != Subcommand {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, os.Getenv(lastWords))
	if os.Getenv(lastWords) == "" {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		time.Sleep(time.Minute)
	}
	os.Exit(2)
}

func TestOnlyAPanicOfEtcdMeansABadSnapshot(t *testing.T) {
	for words, want := range map[string]backup.Reason{
		"":                                    backup.ReasonProcessFailed, // no output: the process was killed
		"fatal error: runtime: out of memory": backup.ReasonProcessFailed,
		"read the job: unexpected EOF":        backup.ReasonProcessFailed,
		"{\"error\":\"no space left on device\"}\npanic: failed to commit tx":          backup.ReasonDiskFull,
		"{\"error\":\"cannot allocate memory\"}\npanic: failed to open database":       backup.ReasonProcessFailed,
		"panic: page 4 already freed":                                                  backup.ReasonNotRestorable,
		"{\"level\":\"panic\"}\npanic: failed to recover v3 backend from snapshot\n\n": backup.ReasonNotRestorable,
	} {
		t.Setenv(lastWords, words)
		if _, err := Apart(t.Context(), Job{}); backup.ReasonOf(err, "") != want {
			t.Errorf("last words %q: expected %s, got %v", words, want, err)
		}
	}
	if err := broke(errors.New("fork/exec /proc/self/exe: resource temporarily unavailable"), ""); backup.ReasonOf(err, "") != backup.ReasonProcessFailed {
		t.Errorf("expected a process that cannot start to prove nothing about the snapshot, got %v", err)
	}
}
