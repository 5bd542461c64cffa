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
	// lookupTime limits how long a directory service may take.
	lookupTime = 20 * time.Second
	// notFound is the exit code of getent for a missing entry.
	notFound = 2
)

var (
	errNoGetent = errors.New("the host has no getent")
	errNoEntry  = errors.New("getent found no such entry")
)

// getent calls getent of the host, which logins use too. No shell is involved, and the key cannot be taken for an
// option.
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
