// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// tailLines is how many lines of each log a failed test shows. The complete logs stay on disk.
const tailLines = 15

// Run is called by TestMain. It starts one environment for all tests of the package, stores it in env, runs the tests,
// and stops the environment.
func Run(m *testing.M, env **Env, opts Options) {
	started, err := start(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		os.Exit(1)
	}
	*env = started
	code := m.Run()
	if code != 0 {
		started.explain()
	}
	if err := started.stop(code != 0); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Start starts an additional environment, for a test that needs other options than the rest of its package.
func Start(t testing.TB, opts Options) *Env {
	t.Helper()
	env, err := start(t.Context(), opts)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			env.explain()
		}
		if err := env.stop(t.Failed()); err != nil {
			t.Errorf("testenv: %v", err)
		}
	})
	return env
}

// explain prints the state and the logs of the processes, which often show the cause of a timeout.
func (e *Env) explain() {
	fmt.Fprintf(os.Stderr, "testenv: logs and %s are in %s\n", auditLog, e.dir.path)
	e.sup.report(os.Stderr, tailLines)
}
