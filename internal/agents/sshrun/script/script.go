// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package script writes the shell scripts that run the command of an Activity on a host outside the cluster, look what
// became of it, and end it. They need a POSIX shell and setsid.
package script

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// Line is the command that the SSH server gives to the login shell of the user. It reads a script from standard input,
// so that the values of variables do not appear in the list of processes. It is the same in all common shells.
const Line = `exec /usr/bin/env -i HOME="$HOME" USER="$USER" LOGNAME="$LOGNAME" SHELL="$SHELL" LANG=C.UTF-8 ` +
	`PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /bin/sh -c 'eval "$(cat)"'`

//go:embed common.sh
var common string

//go:embed run.sh
var run string

//go:embed end.sh
var end string

// Script makes scripts for one run of an Activity. Word is a random word with which each report begins, so that other
// output of the host is not mistaken for a report.
type Script struct {
	Order   hostjob.Order
	Secrets map[string]string
	Word    string
}

// Run returns the script that runs the command, unless the host has a marker of this run.
func (s Script) Run() string { return s.whole(s.variables() + s.command() + run) }

// Look returns the script that reports what became of the command.
func (s Script) Look() string { return s.whole("look\n") }

// End returns the script that sends a signal, such as TERM, to the processes of the command.
func (s Script) End(signal string) string { return s.whole("signal=" + signal + "\n" + end) }

// whole returns a script as a function that its last line calls. If the connection breaks before the shell has received
// the last line, the shell executes nothing.
func (s Script) whole(body string) string {
	key := s.Order.UID + "-" + strconv.FormatInt(s.Order.Run, 10)
	return "opcrew() {\nword=" + quote(s.Word) + "\nkey=" + quote(key) + "\n" + common + body + "}\nopcrew\n"
}

// variables returns the function that sets the variables of the command. Values of Secrets override the others.
func (s Script) variables() string {
	var out strings.Builder
	out.WriteString("variables() {\n:\n")
	for _, env := range s.Order.Envs {
		name, value, _ := strings.Cut(env, "=")
		fmt.Fprintf(&out, "export %s=%s\n", name, quote(value))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		fmt.Fprintf(&out, "export %s=%s\n", name, quote(s.Secrets[name]))
	}
	return out.String() + "}\n"
}

// command returns the lines that set the working directory, and the program with its arguments.
func (s Script) command() string {
	args := s.Order.Args
	if len(args) == 0 {
		args = []string{"/bin/sh", "-c", "--", s.Order.Command}
	}
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quote(arg)
	}
	return "directory=" + quote(s.Order.Dir) + "\nset -- " + strings.Join(quoted, " ") + "\n"
}

// reserved are variables that common shells do not let a script set to any value.
var reserved = []string{"BASHOPTS", "BASHPID", "BASH_VERSINFO", "EUID", "GROUPS", "LINENO", "OPTIND", "PPID", "RANDOM", "SECONDS", "SHELLOPTS", "UID"}

// Reserved returns the first variable of an order that a shell cannot set; empty if there is none.
func Reserved(o hostjob.Order) string {
	for _, env := range o.Envs {
		if name, _, _ := strings.Cut(env, "="); slices.Contains(reserved, name) || !isName(name) {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.SecretEnvs)) {
		if slices.Contains(reserved, name) || !isName(name) {
			return name
		}
	}
	return ""
}

// isName reports whether a shell accepts a name for a variable. Such a name is never shell code.
func isName(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

// quote returns a text as one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
