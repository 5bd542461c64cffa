// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestALineSaysStepTimeAndExpectation(t *testing.T) {
	build := title{number: 4, of: 7, name: "build Kubernetes", expected: 400 * time.Second, unit: "packages", total: 3000}
	for _, c := range []struct{ name, got, want string }{
		{"before the first unit", build.running(9*time.Second, 0), "   9 s (expected 400 s)"},
		{"with units", build.running(120*time.Second, 812), " 120 s (expected 400 s), 812 of 3000 packages"},
		{"with more units than were expected", build.running(120*time.Second, 3001), " 120 s (expected 400 s), 3001 packages"},
		{"at its end", build.done(395*time.Second, 812), " 395 s (expected 400 s), 812 packages"},
		{"after a failure", build.failed(30 * time.Second), "failed after   30 s"},
	} {
		if want := "[ 4/7] build Kubernetes                             " + c.want; c.got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, c.got, want)
		}
	}
}

// output runs a step whose output is not a terminal, and returns what the step printed.
func output(t *testing.T, args ...string) (string, error) {
	t.Helper()
	s, err := parse(append([]string{"-log", filepath.Join(t.TempDir(), "log", "step.log")}, args...))
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	failure := s.run(out)
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(printed), failure
}

func TestAShortStepIsOneLine(t *testing.T) {
	got, err := output(t, "-count", "^go: ", "-unit", "modules", "download", "sh", "-c", "echo go: a; echo hello; echo go: b >&2")
	if err != nil || strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, " s, 2 modules\n") {
		t.Errorf("error %v, printed %q, want one line with 2 modules", err, got)
	}
}

func TestAStepShowsItsOutputWhenAsked(t *testing.T) {
	got, err := output(t, "-show", "apply", "echo", "not every sample is ready")
	if err != nil || !strings.HasSuffix(got, "\nnot every sample is ready\n") {
		t.Errorf("error %v, printed %q, want the command's words below the line", err, got)
	}
}

func TestAFailedStepShowsTheEndOfItsOutputAndWhereTheRestIs(t *testing.T) {
	got, err := output(t, "-count", "^pkg$", "build", "sh", "-c", "for i in $(seq 100); do echo line $i; echo pkg; done; exit 3")
	if err == nil || !strings.Contains(err.Error(), "step.log") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v, want the exit status and the file", err)
	}
	if strings.Contains(got, "pkg") || strings.Contains(got, "line 60\n") || !strings.Contains(got, "line 61\nline 62\n") || !strings.Contains(got, "failed after") {
		t.Errorf("printed %q, want the last %d lines that are no units of work", got, shownLines)
	}
}

func TestAStepDoesNotWaitForWhatItsCommandLeavesRunning(t *testing.T) {
	start := time.Now()
	if _, err := output(t, "start", "sh", "-c", "sleep 20 &"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("the step took %v, as long as the process that its command started", took)
	}
}

func TestAnUnfinishedLineIsReadWhenItIsComplete(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	output := &tail{file: file, count: regexp.MustCompile(`^\S+$`)}
	for i, written := range []string{"net/ht", "net/http\ntwo wor", "net/http\ntwo words\n"} {
		if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := output.read(); err != nil {
			t.Fatal(err)
		}
		if want := min(i, 1); output.units != want {
			t.Errorf("after %q: %d units, want %d", written, output.units, want)
		}
	}
	if len(output.last) != 1 || output.last[0] != "two words" {
		t.Errorf("other lines %q, want the one with a space", output.last)
	}
}

func TestALogGetsALineAfterFiveSecondsAndThenEveryThirty(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, notice: firstNotice}
	for i := range 100 {
		s.progress(seconds(time.Duration(i)*time.Second), time.Duration(i)*time.Second)
	}
	if got, want := strings.Fields(strings.ReplaceAll(out.String(), " s", "")), "5 30 60 90"; strings.Join(got, " ") != want {
		t.Errorf("lines at %q, want %s", got, want)
	}
}

func TestATerminalGetsOneLineThatChanges(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, terminal: true}
	s.progress("one", time.Second)
	s.progress("two", 2*time.Second)
	s.line("done")
	if got := out.String(); strings.Count(got, "\n") != 1 || strings.Count(got, "\r\033[K") != 3 || !strings.HasSuffix(got, "\033[Kdone\n") {
		t.Errorf("printed %q", got)
	}
}
