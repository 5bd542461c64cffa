// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// serving is the environment variable that makes a test binary run the hostile servers instead of its tests.
const serving = "OPCREW_HOSTILE_SERVERS"

// Addresses holds the addresses of all hostile servers, by store and kind.
type Addresses struct{ Redis, Etcd map[string]string }

// Main runs the tests or, in a process that Start has started, the hostile servers until the input ends. The servers
// run in their own process so that their memory does not count as the client's.
func Main(m *testing.M) {
	if os.Getenv(serving) == "" {
		os.Exit(m.Run())
	}
	if err := json.NewEncoder(os.Stdout).Encode(Addresses{ServeRedis(), ServeEtcd()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Start runs the hostile servers in a separate process until the test ends.
func Start(t *testing.T) Addresses {
	t.Helper()
	servers := exec.Command(os.Args[0]) //nolint:gosec // the test program itself
	servers.Env, servers.Stderr = append(os.Environ(), serving+"=yes"), os.Stderr
	input, err := servers.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := servers.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := servers.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = servers.Wait() // the servers end when Start closes their input
	})
	var out Addresses
	if err := json.NewDecoder(output).Decode(&out); err != nil {
		t.Fatalf("expected the addresses of the servers, got %v", err)
	}
	return out
}
