// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	// lookupTime is how long a directory service may take to name a user.
	lookupTime = 20 * time.Second
	// notFound is the exit code by which getent reports that there is no such entry.
	notFound = 2
)

var (
	errNoGetent = errors.New("the host has no getent")
	errNoEntry  = errors.New("there is no such entry")
)

// getent has the host's own program look into a database, the way its logins do. No shell
// is in between, and what is looked for cannot be taken for an option.
func getent(database, key string) (string, error) {
	program, err := lookPath("getent", basePath)
	if err != nil {
		return "", errNoGetent
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, database, "--", key)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{"PATH=" + basePath, "LANG=C"}, "/", time.Second
	out, err := cmd.Output()
	exit := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("getent did not answer within %s", lookupTime)
	case errors.As(err, &exit) && exit.ExitCode() == notFound:
		return "", errNoEntry
	case err != nil:
		return "", fmt.Errorf("getent %s: %w", database, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}
