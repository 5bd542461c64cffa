// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redistest starts real Redis servers in tests, in the same way as a pod: with the agent's code, Secrets and a
// volume.
package redistest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/redisserver"
)

// Main must be called by TestMain in every package whose tests start pods, because the test binary also runs as the
// agent.
func Main(m *testing.M) int {
	if len(os.Args) < 2 || os.Args[1] != subcommand {
		return m.Run()
	}
	o, err := redisserver.ParseFlags(os.Args[2:], os.Stdout)
	if err == nil {
		err = redisserver.Run(context.Background(), o, slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
