// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/trial"
)

// TestAHostThatLosesItsPowerInAnyStepCompletesTheChange kills all processes of a node while its machine agent is in each
// step. Tests of the agent's packages cut the power at every write; this one shows it with a real systemd and kubelet.
func TestAHostThatLosesItsPowerInAnyStepCompletesTheChange(t *testing.T) {
	c := machinePool(t, "node2")
	c.reconfigure(t, worker, func() {
		c.kubectl(t, "apply", "-f", machineTestdata+"more.yaml")
		c.motd(t, "none")
	})
	for _, step := range []trial.Step{trial.Apply, trial.Act, trial.Reboot, trial.Check, trial.Report} {
		t.Run(string(step), func(t *testing.T) {
			done := c.rendered(t, worker)
			c.motd(t, string(step))
			cut := c.awaitStep(t, "node2", step)
			c.crash(t, "node2")
			t.Logf("the power was cut in step %s", cut)
			c.start(t, "node2")
			done(configured)
			c.wantOnHost(t, "node2", string(step), "cat", "/etc/worker-motd")
			c.wantOnHost(t, "node2", "hello", "cat", "/run/greeting")
		})
	}
	c.removeMachinePool(t)
}

// awaitStep waits until the machine agent of a node is in a step of a change, or in a later one.
func (c *cluster) awaitStep(t *testing.T, node string, step trial.Step) trial.Step {
	t.Helper()
	order := []trial.Step{trial.Apply, trial.Act, trial.Reboot, trial.Check, trial.Report}
	file := filepath.Join(c.disk(t, node), "var/lib/opcrew/machine/trial")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if at, err := stepIn(file); err == nil && slices.Index(order, at) >= slices.Index(order, step) {
			return at
		}
	}
	t.Fatalf("expected the change on %s to come to step %s", node, step)
	return ""
}

func stepIn(file string) (trial.Step, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	state := struct{ Step trial.Step }{}
	if err := json.Unmarshal(content, &state); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return state.Step, nil
}
