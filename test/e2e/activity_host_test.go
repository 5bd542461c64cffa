// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// kubelet returns the pid of a node's kubelet. If the kubelet has just ended, it waits until the node's init restarts
// it.
func (c *chores) kubelet(t *testing.T, node string) string {
	t.Helper()
	pid := ""
	eventually.True(t, time.Minute, "the kubelet of "+node+" runs", func() error {
		out := c.onNode(t, node, "sh", "-c", "pgrep -x kube -a | grep ' kubelet ' || true")
		if pid, _, _ = strings.Cut(out, " "); pid == "" {
			return errors.New("the node has no kubelet process")
		}
		return nil
	})
	return pid
}

// restartKubelet kills a node's kubelet, and waits until the node's init has started a new one.
func (c *chores) restartKubelet(t *testing.T, node string) {
	t.Helper()
	before := c.kubelet(t, node)
	c.onNode(t, node, "kill", "-KILL", before)
	eventually.True(t, time.Minute, "the kubelet of "+node+" is started again", func() error {
		if now := c.kubelet(t, node); now == before {
			return fmt.Errorf("the kubelet still has pid %s", now)
		}
		return nil
	})
}

// If the kubelet is killed while it starts a container, the container runtime may end the container. The result of the
// run is then Unknown, and the command must not start again.
func TestACommandIsNeverBegunTwiceAtWhateverMomentItsKubeletIsKilled(t *testing.T) {
	c := newChores(t)
	var tallies []tally
	for i := range 10 {
		y := c.tallied(t, "node3", fmt.Sprint("chore-", i))
		time.Sleep(time.Duration(i*200) * time.Millisecond) // kill the kubelet at a different moment of each start
		c.restartKubelet(t, "node3")
		tallies = append(tallies, y)
	}
	ended := 0
	for _, y := range tallies {
		y.awaitBegun(t)
		y.release(t)
		if y.wantTruth(t) {
			ended++
		}
		y.wantNothingLeft(t)
	}
	if ended == 0 {
		t.Error("expected some commands to come to their end, none did")
	}
}

func TestCommandsRunOnAndTheirEndsAreReportedThoughTheirKubeletIsKilled(t *testing.T) {
	c := newChores(t)
	var tallies []tally
	for i := range 6 {
		tallies = append(tallies, c.tallied(t, "node3", fmt.Sprint("chore-", i)))
	}
	for _, y := range tallies {
		y.await(t, y.name, egov1.StateRunning)
		y.awaitCounted(t, "begun")
	}
	for range 2 {
		c.restartKubelet(t, "node3") // while the commands run
	}
	for i, y := range tallies {
		y.release(t)
		if i%2 == 0 {
			c.restartKubelet(t, "node3") // while the commands end
		}
	}
	for _, y := range tallies {
		y.wantOnce(t)
	}
}

func TestTheEndOfACommandIsReportedThoughNoKubeletSawIt(t *testing.T) {
	c := newChores(t)
	y := c.tallied(t, "node3", "chore")
	y.awaitCounted(t, "begun")
	kubelet := c.kubelet(t, "node3")
	c.onNode(t, "node3", "kill", "-STOP", kubelet)
	// The kubelet may already be gone.
	t.Cleanup(func() { _ = c.program("localcluster", "node", "exec", "node3", "--", "kill", "-CONT", kubelet).Run() })
	y.release(t)
	y.awaitCounted(t, "ended")
	c.onNode(t, "node3", "kill", "-KILL", kubelet)
	y.wantOnce(t)
}

func TestACommandRunsOnceThoughItsHostCrashes(t *testing.T) {
	c := newChores(t)
	y := c.tallied(t, "node3", "chore")
	y.awaitCounted(t, "begun")
	y.await(t, "chore", egov1.StateRunning)
	c.crash(t, "node3")
	y.awaitWords(t, "chore", "does not respond")
	c.start(t, "node3")
	c.awaitWell(t)
	if a := y.await(t, "chore", egov1.StateUnknown, egov1.StateFailed, egov1.StateSucceeded); a.Status.Prosta != egov1.StateUnknown || !strings.Contains(says(a), "runs the command again only if spec.run is increased") {
		t.Errorf("expected its end to be Unknown, and what to do then, it is %s: %s", a.Status.Prosta, says(a))
	}
	if begun := y.counted(t, "begun"); begun != 1 {
		t.Errorf("expected the command to have begun once, it did %d times", begun)
	}
}

// awaitWell waits until all nodes are Ready, so that the next test can start.
func (c *chores) awaitWell(t *testing.T) {
	t.Helper()
	eventually.True(t, 2*time.Minute, "all nodes are Ready", func() error {
		out, err := c.program("localcluster", "status").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
}
