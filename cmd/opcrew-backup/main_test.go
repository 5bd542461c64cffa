// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestTheExitCodeDiffersForAWrongOrderAndAFailure(t *testing.T) {
	target := backup.Target{Type: backup.Folder, Path: "shop", Dir: t.TempDir()}
	prune := encoded(t, backup.Order{ID: "1", Target: target, Prune: &backup.Prune{Keep: 1}})
	target.Dir = "/none/there"
	gone := encoded(t, backup.Order{ID: "1", Target: target, Prune: &backup.Prune{Keep: 1}})
	for name, test := range map[string]struct {
		args    []string
		want    int
		outcome backup.Outcome
		prints  string
	}{
		"no subcommand":  {nil, exitUsage, "", "usage: opcrew-backup"},
		"unknown":        {[]string{"what"}, exitUsage, "", "usage: opcrew-backup"},
		"version":        {[]string{"version"}, exitOK, "", "dev\n"},
		"help":           {[]string{"save", "--help"}, exitOK, "", "-order JSON"},
		"unknown flag":   {[]string{"save", "--what"}, exitUsage, "", "opcrew-backup save: flag provided but not defined"},
		"done":           {[]string{"prune", "--order", prune}, exitOK, backup.Succeeded, ""},
		"failed":         {[]string{"prune", "--order", gone}, exitFailed, backup.Failed, "check that its volume is mounted"},
		"another's":      {[]string{"save", "--order", prune}, exitUsage, backup.Invalid, "the order is for another subcommand than save"},
		"not understood": {[]string{"save", "--order", "{}"}, exitUsage, backup.Invalid, "no id"},
		"none":           {[]string{"save"}, exitUsage, backup.Invalid, "this version cannot read the order"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			result := filepath.Join(t.TempDir(), "result")
			if test.outcome != "" {
				test.args = append(test.args, "--result", result)
			}
			code := run(t.Context(), test.args, &out, &out, slog.New(slog.NewJSONHandler(&out, nil)))
			if code != test.want || !strings.Contains(out.String(), test.prints) {
				t.Errorf("exit code %d, printed %q", code, out.String())
			}
			if test.outcome != "" {
				written(t, result, test.outcome)
			}
		})
	}
}

func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	order := encoded(t, backup.Order{ID: "1", Target: backup.Target{Type: backup.Folder, Path: "shop", Dir: t.TempDir()}, Prune: &backup.Prune{Keep: 1}})
	var out bytes.Buffer
	code := run(t.Context(), []string{"prune", "--order", order, "--result", "/none/there"}, &out, &out, slog.New(slog.DiscardHandler))
	if code != exitFailed || !strings.Contains(out.String(), string(backup.Succeeded)) {
		t.Errorf("exit code %d, printed %q", code, out.String())
	}
}

func TestTheOrderCanBeInTheEnvironmentAndThePodCanEnd(t *testing.T) {
	t.Setenv(orderVariable, encoded(t, backup.Order{
		ID: "1", Target: backup.Target{Type: backup.Folder, Path: "shop", Dir: t.TempDir()}, Save: &backup.Save{Endpoints: []string{"http://127.0.0.1:1"}},
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	result := filepath.Join(t.TempDir(), "result")
	begun := time.Now()
	if code := run(ctx, []string{"save", "--result", result}, &out, &out, slog.New(slog.DiscardHandler)); code != exitFailed {
		t.Errorf("exit code %d, printed %q", code, out.String())
	}
	if took := time.Since(begun); took > 2*endTime {
		t.Errorf("it took %s", took)
	}
	written(t, result, backup.Stopped)
}

func encoded(t *testing.T, o backup.Order) string {
	t.Helper()
	text, err := backup.EncodeOrder(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func written(t *testing.T, path string, want backup.Outcome) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := backup.ParseResult(string(text)); err != nil || r.Outcome != want {
		t.Errorf("expected %s, got %s, %v", want, text, err)
	}
}
