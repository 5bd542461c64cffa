// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

func TestSecretsWinOverVariablesAndTheseOverTheBase(t *testing.T) {
	who := identity{Name: "ada", Home: "/home/ada", Shell: "/bin/zsh"}
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

func TestTheTableOfProcessesIsReadWhateverTheyAreCalled(t *testing.T) {
	const rest = " 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1 2"
	for text, want := range map[string]process{
		"42 (sh) S 7" + rest:         {42, 7, "12345", false},
		"42 (a b) S 7) Z 9" + rest:   {42, 9, "12345", true},
		"42 (\n) R 1 (x) X 9" + rest: {42, 9, "12345", true},
		"42 (sh) S":                  {},
		"42 (sh) S seven" + rest:     {},
		"":                           {},
		"no parentheses at all":      {},
	} {
		got, ok := parseStat(text)
		if ok != (want != process{}) || ok && got != want {
			t.Errorf("%q: expected %+v, got %+v (%v)", text, want, got, ok)
		}
	}
}
