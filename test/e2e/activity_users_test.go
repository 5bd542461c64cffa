// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// user creates a Unix user with two additional groups on a host, without using Kubernetes. It changes only the files of
// the node, not the files of this machine.
func (c *chores) user(t *testing.T, host, shell string) (name string, groups []string) {
	t.Helper()
	name = "e2e-" + strings.TrimPrefix(c.ns, "chores-")
	groups = []string{name + "-disk", name + "-net"}
	for _, group := range groups {
		c.onNode(t, host, "groupadd", group)
		t.Cleanup(func() { c.onNode(t, host, "groupdel", group) })
	}
	c.onNode(t, host, "useradd", "--no-create-home", "--user-group", "--groups", strings.Join(groups, ","), "--shell", shell, name)
	t.Cleanup(func() { c.onNode(t, host, "userdel", name) })
	return name, groups
}

// wantRun creates an Activity, waits until its command has ended, and checks the command's output.
func (c *chores) wantRun(t *testing.T, name, command, output string, options ...chore) {
	t.Helper()
	c.run(t, name, command, options...)
	a := c.await(t, name, egov1.StateSucceeded, egov1.StateFailed)
	if a.Status.Prosta != egov1.StateSucceeded || a.Status.Output != output {
		t.Errorf("expected %s to write %q, it is %s (%s) and wrote %q", name, output, a.Status.Prosta, says(a), a.Status.Output)
	}
}

func TestAUserHasTheGroupsThatItHasOnItsHost(t *testing.T) {
	c := newChores(t)
	name, groups := c.user(t, "node1", "/bin/sh")
	c.wantRun(t, "names", "id -un; id -Gn", name+"\n"+name+" "+strings.Join(groups, " ")+"\n", asUser(name))

	// Only members of the group can read this file.
	file := "/var/tmp/" + name
	c.onNode(t, "node1", "sh", "-c", "umask 077; echo open >"+file+"; chgrp "+groups[1]+" "+file+"; chmod 640 "+file)
	t.Cleanup(func() { c.onNode(t, "node1", "rm", "-f", file) })
	c.wantRun(t, "member", "cat "+file, "open\n", asUser(name))
	c.run(t, "other-user", "cat "+file, asUser("www-data"))
	if a := c.await(t, "other-user", egov1.StateFailed, egov1.StateSucceeded); a.Status.Prosta != egov1.StateFailed || !strings.Contains(a.Status.Output, "Permission denied") {
		t.Errorf("expected www-data not to read a file of group %s, it is %s and wrote %q", groups[1], a.Status.Prosta, a.Status.Output)
	}
}

// A command runs in /bin/sh, even if the login shell of its user does not exist.
func TestAUserWhoseLoginShellIsMissingRunsCommandsAllTheSame(t *testing.T) {
	c := newChores(t)
	name, _ := c.user(t, "node1", "/no/such/shell")
	c.wantRun(t, "chore", "id -un; echo $SHELL", name+"\n/no/such/shell\n", asUser(name))
}

func TestAHostWithoutAShellSaysSoAndRunsProgramsAllTheSame(t *testing.T) {
	c := newChores(t)
	c.onNode(t, "node3", "mv", "/bin/sh", "/bin/sh.away")
	t.Cleanup(func() { c.onNode(t, "node3", "mv", "/bin/sh.away", "/bin/sh") })
	c.run(t, "shell", "echo ran", onHost("node3"))
	c.wantRun(t, "program", "", "no shell\n", onHost("node3"), args("printf", "no %s\n", "shell"))
	if a := c.await(t, "shell", egov1.StateFailed, egov1.StateSucceeded); !strings.Contains(says(a), "the host has no /bin/sh") || a.Status.Output != "" {
		t.Errorf("expected Ready to say that the host has no /bin/sh, it is %s and says %q", a.Status.Prosta, says(a))
	}
}
