// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestWhatCanBecomeOfACommand(t *testing.T) {
	c := newChores(t)
	for _, row := range []struct {
		name, command string
		options       []chore
		state         egov1.State
		words         string // part of the message of Ready
		output        string
	}{
		{"user", "id -un; id -Gn; pwd", []chore{asUser("www-data"), inDir("/var")}, egov1.StateSucceeded, "exit code 0", "www-data\nwww-data\n/var"},
		{"no-user", "true", []chore{asUser("root;id")}, egov1.StateFailed, "root;id", ""},
		{"no-directory", "true", []chore{inDir("/no/such/directory")}, egov1.StateFailed, "/no/such/directory", ""},
		{"exit", "exit 3", nil, egov1.StateFailed, "exit code 3", ""},
		{"exit-137", "exit 137", nil, egov1.StateFailed, "exit code 137", ""},
		{"killed", "kill -9 $$", nil, egov1.StateFailed, "SIGKILL", ""},
		{"timed-out", "trap '' TERM; sleep 600", []chore{within(3)}, egov1.StateTimedOut, "longer than its timeout", ""},
		{"quotes", `echo "a'b" '$(id)' "` + "`id`" + `" | head -c 9; echo; echo "$(echo nested)"`, nil, egov1.StateSucceeded, "exit code 0", "nested"},
		{"dash", "-x", nil, egov1.StateFailed, "exit code 127", "-x: not found"},
		{"not-text", `printf '\377\376'; echo end`, nil, egov1.StateSucceeded, "exit code 0", "end"},
		{"much", "head -c 10000000 /dev/zero | tr '\\0' x; echo end", nil, egov1.StateSucceeded, "exit code 0", "end"},
		{"forks", "setsid sleep 600 & (sleep 600 &) ; echo left", nil, egov1.StateSucceeded, "exit code 0", "left"},
	} {
		c.run(t, row.name, row.command, row.options...)
		t.Run(row.name, func(t *testing.T) {
			a := c.await(t, row.name, row.state)
			if !strings.Contains(says(a), row.words) || !strings.Contains(a.Status.Output, row.output) {
				t.Errorf("expected %q and output %q, got %q and %q", row.words, row.output, says(a), a.Status.Output)
			}
		})
	}
	if left := c.onNode(t, "node1", "sh", "-c", "pgrep -fc 'sleep 60[0]' || true"); strings.TrimSpace(left) != "0" {
		t.Errorf("expected no process of a command to be left on the host, got %s", left)
	}
}

func TestRepairReachesAHostThatIsCordonedAndTainted(t *testing.T) {
	c := newChores(t)
	c.kubectl(t, "cordon", "node2")
	c.kubectl(t, "taint", "node", "node2", "broken=disk:NoExecute", "--overwrite")
	t.Cleanup(func() {
		c.kubectl(t, "uncordon", "node2")
		c.kubectl(t, "taint", "node", "node2", "broken-")
	})
	c.run(t, "routine", "true", onHost("node2"))
	c.run(t, "repair", "hostname", onHost("node2"), repairs)
	if a := c.await(t, "repair", egov1.StateSucceeded); !strings.Contains(a.Status.Output, "node2") {
		t.Errorf("expected it to run on node2, got %q", a.Status.Output)
	}
	eventually.True(t, time.Minute, "the other object reports why it waits", func() error {
		if a := c.get(t, "routine"); a.Status.Prosta != egov1.StatePending || !strings.Contains(says(a), "taint") && !strings.Contains(says(a), "unschedulable") {
			return fmt.Errorf("the Activity is %s with the message %s", a.Status.Prosta, says(a))
		}
		return nil
	})
}

func TestAScheduleMakesARunEveryMinute(t *testing.T) {
	c := newChores(t)
	c.run(t, "minutely", "date", func(a *egov1.Activity) { a.Spec.Schedule = new("* * * * *") })
	eventually.True(t, 4*time.Minute, "three runs have succeeded", func() error {
		all := &egov1.ActivityList{}
		if err := c.List(t.Context(), all, client.InNamespace(c.ns)); err != nil {
			return err
		}
		done := 0
		for _, a := range all.Items {
			if a.Status.Prosta == egov1.StateSucceeded {
				done++
			}
		}
		if done < 3 {
			return fmt.Errorf("%d runs have", done)
		}
		return nil
	})
}
