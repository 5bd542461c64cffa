// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// tally is an Activity whose command counts its starts and ends in files on its host. The command ends when the test
// requests it.
type tally struct {
	*chores
	host, name, dir string
}

// truly is the status message of an Activity whose test command has run to its end. The command then exits with code 7,
// which opcrew itself never uses, so the message cannot have another cause.
const truly = "the command ended with exit code 7"

// tallied creates an Activity whose command counts its own starts and ends in files on the host.
func (c *chores) tallied(t *testing.T, host, name string, options ...chore) tally {
	t.Helper()
	y := c.tally(t, host, name)
	y.begin(t, options...)
	return y
}

// tally creates the directory in which the command of the Activity records each of its runs. It does not create the
// Activity.
func (c *chores) tally(t *testing.T, host, name string) tally {
	t.Helper()
	y := tally{chores: c, host: host, name: name, dir: "/var/tmp/opcrew-e2e-" + c.ns + "-" + name}
	c.onNode(t, host, "mkdir", y.dir)
	t.Cleanup(func() { c.onNode(t, host, "rm", "-rf", y.dir) })
	return y
}

func (y tally) begin(t *testing.T, options ...chore) {
	t.Helper()
	command := "echo $$ >> begun; until [ -e go ]; do sleep 0.1; done; echo $$ >> ended; exit 7"
	y.run(t, y.name, command, append([]chore{onHost(y.host), inDir(y.dir)}, options...)...)
}

// release makes the command end.
func (y tally) release(t *testing.T) {
	t.Helper()
	y.onNode(t, y.host, "touch", y.dir+"/go")
}

// counted returns how often the command has started ("begun") or ended ("ended").
func (y tally) counted(t *testing.T, what string) int {
	t.Helper()
	text := y.onNode(t, y.host, "find", y.dir, "-name", what, "-exec", "cat", "{}", ";")
	return len(strings.Fields(text))
}

func (y tally) awaitCounted(t *testing.T, what string) {
	t.Helper()
	eventually.True(t, time.Minute, "the command of "+y.name+" has "+what, func() error {
		if y.counted(t, what) == 0 {
			return fmt.Errorf("the command has not; the Activity's status is %+v", y.get(t, y.name).Status)
		}
		return nil
	})
}

// awaitBegun waits until the command has started, or until the Activity has ended without starting it.
func (y tally) awaitBegun(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, y.name+" has begun, or ended before", func() error {
		if a := y.get(t, y.name); y.counted(t, "begun") == 0 && a.Status.EndedAt == nil {
			return fmt.Errorf("the Activity is %s: %s", a.Status.Prosta, says(a))
		}
		return nil
	})
}

func (y tally) awaitOver(t *testing.T) *egov1.Activity {
	t.Helper()
	return y.await(t, y.name, egov1.StateFailed, egov1.StateSucceeded, egov1.StateUnknown, egov1.StateCancelled, egov1.StateUnreachable)
}

// wantOnce checks that the command ran exactly once, and that the Activity reports its result.
func (y tally) wantOnce(t *testing.T) {
	t.Helper()
	a := y.awaitOver(t)
	if begun, ended := y.counted(t, "begun"), y.counted(t, "ended"); begun != 1 || ended != 1 {
		t.Errorf("expected the command of %s to run once and to its end, it began %d times and ended %d times", y.name, begun, ended)
	}
	if a.Status.Prosta != egov1.StateFailed || says(a) != truly {
		t.Errorf("expected %s to be Failed by its %s, it is %s: %s", y.name, truly, a.Status.Prosta, says(a))
	}
}

// wantTruth checks that the command ran at most once, and that the Activity's status reports what has really happened.
// It returns whether the command ended.
func (y tally) wantTruth(t *testing.T) bool {
	t.Helper()
	a, begun, ended := y.awaitOver(t), y.counted(t, "begun"), y.counted(t, "ended")
	state, says := a.Status.Prosta, says(a)
	t.Logf("%s began %d times, ended %d times, is %s: %s", y.name, begun, ended, state, says)
	switch {
	case begun > 1:
		t.Errorf("expected the command of %s to run once, it began %d times", y.name, begun)
	case ended == 1 && (state != egov1.StateFailed || says != truly):
		t.Errorf("expected %s, whose command ended, to be Failed by its %s, it is %s: %s", y.name, truly, state, says)
	case ended == 0 && (state == egov1.StateSucceeded || says == truly):
		t.Errorf("expected %s, whose command did not end, not to say so, it is %s: %s", y.name, state, says)
	case begun == 1 && strings.Contains(says, "did not start"):
		t.Errorf("expected %s, whose command began, not to deny it, it says %s", y.name, says)
	}
	return ended == 1
}

// wantNothingLeft waits until the host runs no processes of the command.
func (y tally) wantNothingLeft(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, "the processes of "+y.name+" are gone from "+y.host, func() error {
		alive := y.onNode(t, y.host, "sh", "-c", "for pid in $(cat "+y.dir+"/begun 2>/dev/null); do ps -o pid=,args= -p $pid || true; done")
		if strings.TrimSpace(alive) != "" {
			return fmt.Errorf("the host runs the processes %s", alive)
		}
		return nil
	})
}
