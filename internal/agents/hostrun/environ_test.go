// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/hostrun/account"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

func TestSecretsWinOverVariablesAndTheseOverTheBase(t *testing.T) {
	who := account.Identity{Name: "ada", Home: "/home/ada", Shell: "/bin/zsh"}
	got := environ(who, []string{"LANG=de_DE.UTF-8", "A=1", "B=x=y", "A=2", "C=plain"}, map[string]string{"C": "secret", "D": "new\nline"})
	want := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home/ada", "USER=ada", "LOGNAME=ada", "SHELL=/bin/zsh",
		"LANG=de_DE.UTF-8", "A=2", "B=x=y", "C=secret", "D=new\nline",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestACommandIsOneArgumentOfTheShell(t *testing.T) {
	for command, want := range map[string][]string{
		"id; echo '$HOME'\n\"": {"/bin/sh", "-c", "id; echo '$HOME'\n\""},
		"-x":                   {"/bin/sh", "-c", "--", "-x"},
		"+x":                   {"/bin/sh", "-c", "--", "+x"},
	} {
		if diff := cmp.Diff(want, argv(hostjob.Order{Command: command})); diff != "" {
			t.Errorf("%q: %s", command, diff)
		}
	}
	if diff := cmp.Diff([]string{"a", "-b;c"}, argv(hostjob.Order{Args: []string{"a", "-b;c"}})); diff != "" {
		t.Error(diff)
	}
}
