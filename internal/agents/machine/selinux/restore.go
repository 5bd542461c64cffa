// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package selinux

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	// mostPaths is how many paths one call has, so that they fit into a command line.
	mostPaths = 200
	// callTime is how long one call may take.
	callTime = 5 * time.Minute
)

// literal escapes what restorecon would take as a pattern. It expands patterns itself, without a shell.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// Restore lets restorecon set the labels of paths. Without -R it changes only the paths themselves, and not the target
// of a link. A path that is gone is no error.
func Restore(ctx context.Context, program string, paths []string) error {
	for some := range slices.Chunk(paths, mostPaths) {
		if err := call(ctx, program, some); err != nil {
			return err
		}
	}
	return nil
}

func call(ctx context.Context, program string, paths []string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	args := []string{"-i"}
	for _, p := range paths {
		args = append(args, literal.Replace(p))
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.WaitDelay = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		return fmt.Errorf("restorecon could not set SELinux labels: %w: %s", err, text[max(0, len(text)-1000):])
	}
	return nil
}
