// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package rediscluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// redisCLI runs a management command of redis-cli, and returns the time that the command took.
func redisCLI(t *testing.T, args ...string) (took time.Duration) {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("..", "..", "..", "bin", "redis-cli"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"--user", operator.User, "--no-auth-warning", "--cluster"}, args...)...)
	cmd.Env = append(os.Environ(), "REDISCLI_AUTH="+operator.Password)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("redis-cli (make bin/redis-cli): %v\n%s", err, out[max(0, len(out)-2500):])
	}
	return time.Since(began)
}
