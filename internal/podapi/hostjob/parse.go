// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ParseResult parses a termination message. The message is untrusted input, because root on the host can write it. The
// container must not use FallbackToLogsOnError, because then the message could be output of the command.
func ParseResult(text string) (Result, error) {
	var r Result
	if len(text) > MaxResult {
		return Result{}, fmt.Errorf("the termination message is not a result: it has %d bytes, but at most %d are allowed", len(text), MaxResult)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Result{}, fmt.Errorf("the termination message is not a result: %w", err)
	}
	if !slices.Contains(states(), r.State) {
		return Result{}, errors.New("the termination message is not a result: its state is unknown")
	}
	if r.ExitCode != nil && (*r.ExitCode < 0 || *r.ExitCode > 255) || r.Bytes < 0 {
		return Result{}, errors.New("the termination message is not a result: its numbers are impossible")
	}
	r.tidy()
	return r, nil
}

func states() []State {
	return []State{Succeeded, Failed, Cancelled, TimedOut, Unknown, NotStarted, Invalid}
}
