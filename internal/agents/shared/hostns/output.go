// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// outputTime is the time limit of a program. After it the program gets SIGTERM, and endTime later SIGKILL.
	outputTime = time.Minute
	endTime    = 10 * time.Second
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
// an *exec.ExitError with the messages of the program. A program that has started ends by itself or after a minute, even
// if the context ends before, because it may be writing a file of the host.
func Output(ctx context.Context, proc string, args ...string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outputTime)
	defer cancel()
	var out, messages bytes.Buffer
	cmd := exec.CommandContext(ctx, "/usr/bin/env", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = Environ(), &out, &messages
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, endTime
	err := Start(proc, cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if absent(err) {
		return "", fmt.Errorf("%s: %w", args[0], ErrNoProgram)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args[:min(len(args), 3)], " "), err, strings.TrimSpace(messages.String()))
	}
	return out.String(), err
}

// absent reports whether the host has no such program. A host without a shell's tools has no env either.
func absent(err error) bool {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode() == notFound
	}
	failed := (*fs.PathError)(nil)
	return errors.As(err, &failed) && failed.Op == "fork/exec" && errors.Is(err, fs.ErrNotExist)
}
