// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ParseResult reads a termination message, which is untrusted: root on the host can write it. The
// container must not have the policy FallbackToLogsOnError, with which it could be output of the
// command.
func ParseResult(text string) (Result, error) {
	var r Result
	if len(text) > MaxResult {
		return Result{}, fmt.Errorf("not a result: it has %d bytes, and at most %d are read", len(text), MaxResult)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Result{}, fmt.Errorf("not a result: %w", err)
	}
	if !slices.Contains(states(), r.State) {
		return Result{}, errors.New("not a result: unknown state")
	}
	if r.ExitCode != nil && (*r.ExitCode < 0 || *r.ExitCode > 255) || r.Bytes < 0 {
		return Result{}, errors.New("not a result: impossible numbers")
	}
	r.tidy()
	return r, nil
}

func states() []State {
	return []State{Succeeded, Failed, Cancelled, TimedOut, Unknown, NotStarted, Invalid}
}
