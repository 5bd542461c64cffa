// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	// outputTime is the time limit of a program whose output is read.
	outputTime = time.Minute
	// notFound is the exit code of env for a program that does not exist.
	notFound = 127
)

// ErrNoProgram is returned if the host does not have a program.
var ErrNoProgram = errors.New("the host does not have the program")

// Environ returns the environment of a program of the host. The output of programs must not depend on a language.
func Environ() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin", "LC_ALL=C"}
}

// Output runs a program that the host finds in its search path, and returns what it prints. It returns ErrNoProgram, or
// an *exec.ExitError with the messages of the program, for at most a minute's work.
func Output(ctx context.Context, proc string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, outputTime)
	defer cancel()
	var out, messages bytes.Buffer
	cmd := exec.CommandContext(ctx, "/usr/bin/env", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = Environ(), &out, &messages
	err := Start(proc, cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == notFound {
		return "", fmt.Errorf("%s: %w", args[0], ErrNoProgram)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args[:min(len(args), 3)], " "), err, strings.TrimSpace(messages.String()))
	}
	return out.String(), err
}
