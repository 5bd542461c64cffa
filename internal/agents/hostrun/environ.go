// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"maps"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/hostrun/account"
	"github.com/opcrew/opcrew/internal/agents/hostrun/program"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// environ returns the complete environment of the command. It contains no variables of the container. Values of Secrets
// override variables in the order (the description of the command), which override the defaults.
func environ(who account.Identity, envs []string, secrets map[string]string) []string {
	base := []string{"PATH=" + program.Path, "HOME=" + who.Home, "USER=" + who.Name, "LOGNAME=" + who.Name, "SHELL=" + who.Shell, "LANG=C.UTF-8"}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		envs = append(slices.Clip(envs), name+"="+secrets[name])
	}
	return lastWins(append(base, envs...))
}

// lastWins removes duplicate variables and keeps the last value of each, because programs treat duplicates differently.
func lastWins(envs []string) []string {
	var out []string
	at := map[string]int{}
	for _, env := range envs {
		name, _, _ := strings.Cut(env, "=")
		if i, ok := at[name]; ok {
			out[i] = env
			continue
		}
		at[name] = len(out)
		out = append(out, env)
	}
	return out
}

// variable returns the value of an environment variable.
func variable(envs []string, name string) string {
	for _, env := range envs {
		if value, ok := strings.CutPrefix(env, name+"="); ok {
			return value
		}
	}
	return ""
}

// argv returns the arguments to execute. A command line becomes one argument of the shell. If it begins with - or +,
// the argument -- before it keeps the shell from reading it as an option.
func argv(o hostjob.Order) []string {
	switch {
	case len(o.Args) > 0:
		return o.Args
	case strings.ContainsAny(o.Command[:1], "-+"):
		return []string{program.Shell, "-c", "--", o.Command}
	}
	return []string{program.Shell, "-c", o.Command}
}
