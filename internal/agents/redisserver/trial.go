// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// trialTime is how long a server may take to refuse a configuration.
const trialTime = 10 * time.Second

// noDirective is one that every server refuses: a trial never becomes a server.
const noDirective = "opcrew-ends-the-trial"

// refusedLine is how servers tell which line they refuse, what it is, and why (config.c, loadServerConfigFromString).
var refusedLine = regexp.MustCompile(`at line (\d+)\n>>> .*\n(.*)`)

// try leaves out of the user's directives those that the program refuses: with them it would not start, though it runs
// well without. The operator tells servers the same while they run, and users what these refuse. Of one that counts at the
// start alone no one would hear: it is an error. So that no server is kept from its start by a trial, one that comes to
// nothing leaves out nothing.
func try(ctx context.Context, program string, asked []directive, log *slog.Logger) ([]directive, error) {
	good := slices.Clone(asked)
	for len(good) > 0 {
		line, why, err := refused(ctx, program, good)
		if err != nil {
			log.Warn("The directives could not be tried", "error", err)
			return asked, nil
		}
		if line == len(good) {
			break
		}
		if bad := good[line]; redispod.ReadAtStart(bad.name) {
			return nil, fmt.Errorf("the server refuses the directive %s %s: %s", bad.name, bad.value, why)
		}
		log.Warn("The server refuses a directive, and starts without it", "directive", good[line].name, "value", good[line].value, "reason", why)
		good = slices.Delete(good, line, line+1)
	}
	return good, nil
}

// refused is the first of some directives that a program refuses, and its words; their number if it is none. A program
// reads all of its configuration before it does anything else, and ends at the first line that it refuses. What it ends
// by later is not found: the operator writes no such setting down (locale-collate).
func refused(ctx context.Context, program string, asked []directive) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	trial := exec.CommandContext(ctx, program, "-") // reads its configuration from there
	trial.Stdin = strings.NewReader(lines(asked) + noDirective + " yes\n")
	said, err := trial.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		return 0, "", fmt.Errorf("try the directives of %s: %w", program, err)
	}
	told := refusedLine.FindStringSubmatch(string(said))
	if told == nil {
		return 0, "", fmt.Errorf("try the directives of %s: %w: %s", program, err, said)
	}
	line, err := strconv.Atoi(told[1])
	if err != nil || line < 1 || line > len(asked)+1 {
		return 0, "", fmt.Errorf("try the directives of %s: it refuses line %s of %d", program, told[1], len(asked)+1)
	}
	return line - 1, told[2], nil
}
