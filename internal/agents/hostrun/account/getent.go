// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package account

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/hostrun/program"
)

const (
	// lookupTime is how long a directory service may take to respond.
	lookupTime = 20 * time.Second
	// notFound is the exit code of getent if there is no such entry.
	notFound = 2
)

var (
	errNoGetent = errors.New("the host has no getent")
	errNoEntry  = errors.New("getent found no such entry")
)

// getent runs the getent program of the host, which uses the same sources as logins. It uses no shell, and the key
// cannot be mistaken for an option.
func getent(database, key string) (string, error) {
	executable, err := program.Find("getent", program.Path)
	if err != nil {
		return "", errNoGetent
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable, database, "--", key)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{"PATH=" + program.Path, "LANG=C"}, "/", time.Second
	out, err := cmd.Output()
	exit := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("getent did not respond within %s", lookupTime)
	case errors.As(err, &exit) && exit.ExitCode() == notFound:
		return "", errNoEntry
	case err != nil:
		return "", fmt.Errorf("getent %s: %w", database, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}
