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

// noDirective is a directive that every server refuses. At the end of a trial configuration it ensures that no server
// starts.
const noDirective = "opcrew-ends-the-trial"

// refusedLine matches the line number and the reason in the message of a server that refuses its configuration
// (config.c, loadServerConfigFromString).
var refusedLine = regexp.MustCompile(`at line (\d+)\n>>> .*\n(.*)`)

// try removes directives of the user that the server would refuse. The operator later tries to set them on the running
// server, and reports the refusal. This is impossible for a directive that servers read only at start, so such a
// directive is an error. If the trial itself fails, try removes nothing, because the server must start anyway.
func try(ctx context.Context, program string, asked []directive, log *slog.Logger) ([]directive, error) {
	good := slices.Clone(asked)
	for len(good) > 0 {
		line, why, err := refused(ctx, program, good)
		if err != nil {
			log.Warn("The directives of the user could not be checked", "error", err)
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

// refused returns the index of the first directive that the program refuses, and the reason. If it refuses none, the
// index is the number of directives. The program parses its whole configuration and stops at the first bad line.
// Settings that only fail later, such as locale-collate, are not found; the operator writes none of them.
func refused(ctx context.Context, program string, asked []directive) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	trial := exec.CommandContext(ctx, program, "-") // the argument - makes the program read its configuration from standard input
	trial.Stdin = strings.NewReader(lines(asked) + noDirective + " yes\n")
	said, err := trial.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		return 0, "", fmt.Errorf("check the directives with %s: %w", program, err)
	}
	match := refusedLine.FindStringSubmatch(string(said))
	if match == nil {
		return 0, "", fmt.Errorf("check the directives with %s: %w: %s", program, err, said)
	}
	line, err := strconv.Atoi(match[1])
	if err != nil || line < 1 || line > len(asked)+1 {
		return 0, "", fmt.Errorf("check the directives with %s: the server refuses line %s of %d", program, match[1], len(asked)+1)
	}
	return line - 1, match[2], nil
}
