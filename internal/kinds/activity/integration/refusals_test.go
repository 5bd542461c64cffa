// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

func asUser(name string) option { return func(a *egov1.Activity) { a.Spec.ExecUser = name } }
func inDir(dir string) option   { return func(a *egov1.Activity) { a.Spec.ExecCwd = dir } }
func onHost(host string) option { return func(a *egov1.Activity) { a.Spec.Host = host } }
func variable(text egov1.Env) option {
	return func(a *egov1.Activity) { a.Spec.Envs = []egov1.Env{text} }
}

func arguments(args ...egov1.Arg) option {
	return func(a *egov1.Activity) { a.Spec.Args = args }
}

func TestWhatNoHostCanBeGivenIsRefusedWithWhatToWriteInstead(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		command, words string
		options        []option
	}{
		{"echo a\x00b", "a command cannot contain the character NUL", nil},
		{"id", "a user's name cannot contain the character NUL", []option{asUser("root\x00x")}},
		{"", "an argument cannot contain the character NUL", []option{arguments("echo", "a\x00b")}},
		{"id", "a variable cannot contain the character NUL", []option{variable("A=\x00")}},
		{"id", "execcwd must be an absolute path on the host, such as /tmp", []option{inDir("/tmp\x00")}},
		{"id", "execcwd must be an absolute path on the host, such as /tmp", []option{inDir("tmp")}},
		{"id", "a variable must be KEY=value", []option{variable("touch /tmp/trap")}},
		{"id", "host must be the name of one node, as kubectl get nodes shows it", []option{onHost("node1;id")}},
		{"", "set either command, which the host's shell runs, or args", nil},
		{"id", "set either command, which the host's shell runs, or args", []option{arguments("id")}},
		{strings.Repeat("x", 102401), "a command can have at most 102400 characters; put a longer one into a file on the host, and run that", nil},
	} {
		err := env.Client.Create(t.Context(), s.declared("try", c.command, c.options...))
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("expected a refusal with %q, got %v", c.words, err)
		}
	}
}

// A command with special characters of a shell is only data. It must be accepted and reported unchanged.
func TestWhatTheShellCouldTakeForItsOwnIsAccepted(t *testing.T) {
	s := newSite(t)
	hostile := "$(touch /tmp/trap) `id`; '\"\n\t\\ & | * \x01 é"
	s.create("chore", "true", asUser("root;id"), inDir("/tmp/"+hostile), variable(egov1.Env("EVIL="+hostile)))
	a := s.await("chore", egov1.StateSucceeded)
	if len(s.pods(a)) != 1 {
		t.Errorf("expected a pod, there are %d", len(s.pods(a)))
	}
	for _, text := range []string{s.pods(a)[0].Name, strings.Join(s.pods(a)[0].Spec.Containers[0].Args, " ")} {
		if strings.Contains(text, "touch") || strings.Contains(text, "root;id") {
			t.Errorf("expected nothing of what was written among the pod's own words, got %s", text)
		}
	}
}

// The command has 100 KiB of characters that take six bytes each in JSON, so its pod is too large for the API server.
func TestWhatDoesNotFitIntoAPodIsReportedWithARemedy(t *testing.T) {
	s := newSite(t)
	s.create("chore", strings.Repeat("\x01", 102400))
	s.await("chore", egov1.StateFailed, "put long texts into a file on the host")
}
