// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	shell    = "/bin/sh"
	basePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// environ is all that a command finds in its environment. Nothing of the container's is in
// it; the values of Secrets win over what was written down, and that over the base.
func environ(who identity, envs []string, secrets map[string]string) []string {
	base := []string{"PATH=" + basePath, "HOME=" + who.Home, "USER=" + who.Name, "LOGNAME=" + who.Name, "SHELL=" + who.Shell, "LANG=C.UTF-8"}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		envs = append(slices.Clip(envs), name+"="+secrets[name])
	}
	return lastWins(append(base, envs...))
}

// lastWins leaves one of each name: what a program does with two is its own affair.
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

// variable is the value of a name, where each name is there once.
func variable(envs []string, name string) string {
	for _, env := range envs {
		if value, ok := strings.CutPrefix(env, name+"="); ok {
			return value
		}
	}
	return ""
}

// argv is what to execute. The text of a command is one argument, which nothing is added
// to. Without the dashes in front a text that begins with one would be taken for options.
func argv(o hostjob.Order) []string {
	switch {
	case len(o.Args) > 0:
		return o.Args
	case strings.ContainsAny(o.Command[:1], "-+"):
		return []string{shell, "-c", "--", o.Command}
	}
	return []string{shell, "-c", o.Command}
}

// lookPath finds an executable as a shell would, for anyone who this process is now.
func lookPath(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	failure := fs.ErrNotExist
	for _, dir := range filepath.SplitList(path) {
		candidate := filepath.Join(dir, name)
		if dir == "" {
			candidate = "./" + name
		}
		err := executable(candidate)
		if err == nil {
			return candidate, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			failure = err
		}
	}
	return "", failure
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return unix.EISDIR
	}
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
}
