// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"fmt"
	"slices"
	"strings"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// nouns are the words for what changes, in the order in which a summary lists them.
var nouns = []struct {
	kind     Kind
	one, all string
}{
	{File, "file", "files"},
	{Directory, "directory", "directories"},
	{Link, "link", "links"},
	{Unit, "unit", "units"},
	{DropIn, "drop-in", "drop-ins"},
	{SSHKeys, "user's SSH keys", "users' SSH keys"},
	{Password, "password", "passwords"},
	{KernelArgument, "kernel argument", "kernel arguments"},
}

// Summary describes changes and what they require, as in "Adds 2 files and 1 unit, changes file /etc/motd; then drains
// the node, reloads crio.service".
func Summary(all []Change, steps Steps) string {
	if len(all) == 0 {
		return "Nothing on the host differs"
	}
	var parts []string
	for _, verb := range []struct {
		action Action
		word   string
	}{{Added, "adds"}, {Changed, "changes"}, {Removed, "removes"}} {
		if of := counts(all, verb.action); of != "" {
			parts = append(parts, verb.word+" "+of)
		}
	}
	text := strings.Join(parts, ", ") + "; " + describe(steps)
	return strings.ToUpper(text[:1]) + text[1:]
}

// counts lists how many things change in one way; a single one by its name.
func counts(all []Change, action Action) string {
	var out []string
	for _, noun := range nouns {
		of := slices.DeleteFunc(slices.Clone(all), func(c Change) bool { return c.Action != action || c.Kind != noun.kind })
		switch {
		case len(of) == 1 && noun.kind != SSHKeys:
			out = append(out, noun.one+" "+of[0].Name)
		case len(of) == 1:
			out = append(out, "SSH keys of "+of[0].Name)
		case len(of) > 1:
			out = append(out, fmt.Sprintf("%d %s", len(of), noun.all))
		}
	}
	return join(out)
}

// verbs are the words for actions.
var verbs = map[mcfgv1.ActionType]string{
	mcfgv1.ActionReboot:       "drains and reboots the node",
	mcfgv1.ActionDrain:        "drains the node",
	mcfgv1.ActionDaemonReload: "makes systemd read its units",
	mcfgv1.ActionReload:       "reloads",
	mcfgv1.ActionRestart:      "restarts",
}

func describe(steps Steps) string {
	if len(steps) == 0 {
		return "requires no reload, restart or reboot"
	}
	var out []string
	for _, step := range steps {
		out = append(out, strings.TrimSpace(verbs[step.Type]+" "+step.Unit))
	}
	return join(out)
}

// join joins words as in "a, b and c".
func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
