// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// trap is the path of a file on the host. hostile is a text with shell commands that create this file, so the file
// exists only if opcrew has passed the text to a shell.
const (
	trap    = "/tmp/opcrew-e2e-trap"
	hostile = "$(touch " + trap + ") `touch " + trap + "` ; touch " + trap + " & '\" \\ %s \n| touch " + trap + "\t*"
)

// wantUntouched fails the test if the file at the path trap exists on the host. A shell would create this file if it
// executed one of the hostile texts in these tests.
func (c *chores) wantUntouched(t *testing.T) {
	t.Helper()
	if found := c.onNode(t, "node1", "sh", "-c", "ls "+trap+" 2>/dev/null || true"); found != "" {
		t.Error("expected no value to be taken for text of a shell, one was")
	}
}

func env(text egov1.Env) chore {
	return func(a *egov1.Activity) { a.Spec.Envs = append(a.Spec.Envs, text) }
}

func TestHostileValuesReachTheCommandAsTheyAreWritten(t *testing.T) {
	c := newChores(t)
	for name, row := range map[string]struct {
		command, output string
		options         []chore
	}{
		"variable":  {`printf %s "$EVIL"`, hostile, []chore{env("EVIL=" + hostile)}},
		"arguments": {"", hostile + "|-n|\n", []chore{args("printf", "%s|%s|\n", hostile, "-n")}},
		"lines":     {"printf 'one\n two'\nprintf '\\n%s' \"'$((1 + 1))'\" # \"\n\n", "one\n two\n'2'", nil},
		"expanded":  {`printf '$(X) $$(X) {{.X}} ${X}'`, `$(X) $$(X) {{.X}} ${X}`, []chore{env("X=no")}},
		"long":      {": '" + strings.Repeat("x", 102400-len(": ''\nprintf end")) + "'\nprintf end", "end", nil},
	} {
		t.Run(name, func(t *testing.T) { c.wantRun(t, name, row.command, row.output, row.options...) })
	}
	c.wantUntouched(t)
}

func TestHostileUsersAndDirectoriesAreNoneOfTheHost(t *testing.T) {
	c := newChores(t)
	for name, row := range map[string]struct {
		option chore
		words  string
	}{
		"user-command":      {asUser("root;id"), `the host has no user "root;id"`},
		"user-substitution": {asUser("$(touch " + trap + ")"), "the host has no user"},
		"user-number":       {asUser("+0"), "the host has no user"},
		"user-option":       {asUser("--help"), "user must not begin with a dash"},
		"user-entry":        {asUser("root:x:0:0"), "must not contain colons or line breaks"},
		"user-lines":        {asUser("root\ntouch " + trap), "must not contain colons or line breaks"},
		"directory":         {inDir("/tmp/$(touch " + trap + ")"), "the host has no directory"},
		"directory-lines":   {inDir("/tmp\n/etc"), "the host has no directory"},
	} {
		c.run(t, name, "echo ran", row.option)
		t.Run(name, func(t *testing.T) {
			a := c.await(t, name, egov1.StateFailed, egov1.StateSucceeded)
			if a.Status.Prosta != egov1.StateFailed || !strings.Contains(says(a), row.words) || a.Status.Output != "" {
				t.Errorf("expected nothing to run and Ready to say %q, it is %s, says %q and wrote %q", row.words, a.Status.Prosta, says(a), a.Status.Output)
			}
		})
	}
	c.wantUntouched(t)
}

// A command of 100 KiB in multi-byte characters exceeds the limit of Linux for one argument.
func TestACommandThatIsTooLongForItsHostSaysWhatToDoInstead(t *testing.T) {
	c := newChores(t)
	c.run(t, "wide", strings.Repeat("é", 102400))
	if a := c.await(t, "wide", egov1.StateFailed); !strings.Contains(says(a), "put the text into a file on the host") {
		t.Errorf("expected Ready to say what to do with a command of 200 KB, it says %q", says(a))
	}
}
