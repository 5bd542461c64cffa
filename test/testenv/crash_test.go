// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// crashVar is the environment variable that makes TestHelperThatPanics panic.
const crashVar = "TESTENV_CRASH"

// TestHelperThatPanics is not a real test. TestAPanicLeavesNoProcessBehind runs it in a separate test binary, which has
// its own server.
func TestHelperThatPanics(t *testing.T) {
	if os.Getenv(crashVar) == "" {
		t.Skip("runs only as a helper")
	}
	fmt.Println(crashVar, filepath.Dir(env.Kubeconfig))
	_, _ = io.Copy(io.Discard, os.Stdin) // wait until the parent process has seen the processes
	panic("on purpose")
}

func TestAPanicLeavesNoProcessBehind(t *testing.T) {
	helper := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperThatPanics$")
	helper.Env = append(os.Environ(), crashVar+"=yes")
	stdin, err := helper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	dir := helperDir(t, stdout)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if running := processesOf(dir); len(running) < 3 {
		t.Errorf("before the panic etcd, API server and controller manager should run, there are %v", running)
	}
	stdin.Close()
	var exit *exec.ExitError
	if err := helper.Wait(); !errors.As(err, &exit) {
		t.Errorf("the helper should have panicked, it ended with %v", err)
	}
	eventually.True(t, eventually.Long, "all processes of the crashed test binary are gone", func() error {
		if running := processesOf(dir); len(running) > 0 {
			return fmt.Errorf("running: %v", running)
		}
		return nil
	})
}

// helperDir reads the output of the helper process, and returns the directory of the helper's environment.
func helperDir(t *testing.T, stdout io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if dir, found := strings.CutPrefix(lines.Text(), crashVar+" "); found {
			return dir
		}
	}
	t.Fatalf("the helper ended before it had a server: %v", lines.Err())
	return ""
}

// processesOf returns the processes whose arguments contain dir.
func processesOf(dir string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // cannot fail, because the pattern is valid
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(dir+"/")) {
			name, _, _ := bytes.Cut(line, []byte{0})
			found = append(found, string(name))
		}
	}
	return found
}
