// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// chores is a namespace with Activities on the machines of the local cluster.
type chores struct {
	*cluster
	ns string
}

func newChores(t *testing.T) *chores {
	t.Helper()
	if err := egov1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	c := &chores{cluster: connect(t)}
	ns := &corev1.Namespace{}
	ns.GenerateName = "chores-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	c.ns = ns.Name
	return c
}

type chore func(*egov1.Activity)

func asUser(name string) chore   { return func(a *egov1.Activity) { a.Spec.ExecUser = name } }
func inDir(dir string) chore     { return func(a *egov1.Activity) { a.Spec.ExecCwd = dir } }
func onHost(host string) chore   { return func(a *egov1.Activity) { a.Spec.Host = host } }
func within(seconds int64) chore { return func(a *egov1.Activity) { a.Spec.TimeoutSeconds = &seconds } }

func (c *chores) run(t *testing.T, name, command string, options ...chore) {
	t.Helper()
	a := &egov1.Activity{}
	a.Namespace, a.Name = c.ns, name
	a.Spec.Command, a.Spec.Host = command, "node1"
	for _, o := range options {
		o(a)
	}
	if err := c.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

func (c *chores) get(t *testing.T, name string) *egov1.Activity {
	t.Helper()
	a := &egov1.Activity{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: name}, a); err != nil {
		t.Fatal(err)
	}
	return a
}

// await waits until it has one of the states.
func (c *chores) await(t *testing.T, name string, states ...egov1.State) *egov1.Activity {
	t.Helper()
	var a *egov1.Activity
	eventually.True(t, 3*time.Minute, fmt.Sprintf("%s is %v", name, states), func() error {
		if a = c.get(t, name); !slices.Contains(states, a.Status.Prosta) {
			ready := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady)
			return fmt.Errorf("it is %s: %+v", a.Status.Prosta, ready)
		}
		return nil
	})
	return a
}

func says(a *egov1.Activity) string {
	if c := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady); c != nil {
		return c.Message
	}
	return ""
}

// onNode runs a command on a machine, past Kubernetes.
func (c *chores) onNode(t *testing.T, node string, command ...string) string {
	t.Helper()
	return c.cluster.run(t, "localcluster", append([]string{"node", "exec", node, "--"}, command...)...)
}

func TestSmokeAnActivityRunsTheArticlesCommandOnItsHost(t *testing.T) {
	c := newChores(t)
	c.kubectl(t, "apply", "-n", c.ns, "-f", "config/samples/activity.yaml")
	c.kubectl(t, "wait", "-n", c.ns, "--for=condition=Succeeded", "--timeout=120s", "activity/activity-sample")
	a := c.get(t, "activity-sample")
	for _, words := range []string{"node1", "uid=0(root)", "/tmp", "GREETING=hello"} {
		if !strings.Contains(a.Status.Output, words) {
			t.Errorf("expected %q in the output, got:\n%s", words, a.Status.Output)
		}
	}
	if table := c.kubectl(t, "get", "activities", "-n", c.ns); !strings.Contains(table, "Succeeded") || !strings.Contains(table, "node1") {
		t.Errorf("expected host and state in the table, got:\n%s", table)
	}
	c.kubectl(t, "delete", "activity", "-n", c.ns, "activity-sample")
	if left := c.kubectl(t, "get", "pods", "-n", "opcrew-activities", "-l", "opcrew.io/owner="+string(a.UID), "-o", "name"); left != "" {
		t.Errorf("expected no pod to be left, got %s", left)
	}
}

func TestWhatCanBecomeOfACommand(t *testing.T) {
	c := newChores(t)
	for _, row := range []struct {
		name, command string
		options       []chore
		state         egov1.State
		words         string // of Ready
		output        string
	}{
		{"user", "id -un; id -Gn; pwd", []chore{asUser("www-data"), inDir("/var")}, egov1.StateSucceeded, "exit code 0", "www-data\nwww-data\n/var"},
		{"no-user", "true", []chore{asUser("root;id")}, egov1.StateFailed, "root;id", ""},
		{"no-directory", "true", []chore{inDir("/no/such/directory")}, egov1.StateFailed, "/no/such/directory", ""},
		{"exit", "exit 3", nil, egov1.StateFailed, "exit code 3", ""},
		{"exit-137", "exit 137", nil, egov1.StateFailed, "exit code 137", ""},
		{"killed", "kill -9 $$", nil, egov1.StateFailed, "SIGKILL", ""},
		{"timed-out", "trap '' TERM; sleep 600", []chore{within(3)}, egov1.StateTimedOut, "time was up", ""},
		{"quotes", `echo "a'b" '$(id)' "` + "`id`" + `" | head -c 9; echo; echo "$(echo nested)"`, nil, egov1.StateSucceeded, "exit code 0", "nested"},
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

// counts runs a command that leaves a line in a file of its host, and gives how to read how many there are.
func (c *chores) counts(t *testing.T, host, name, seconds string) func() string {
	t.Helper()
	file := "/var/tmp/opcrew-e2e-" + c.ns + "-" + name
	t.Cleanup(func() { c.onNode(t, host, "rm", "-f", file) })
	c.run(t, name, "echo ran >> "+file+"; sleep "+seconds, onHost(host))
	return func() string {
		return strings.TrimSpace(c.onNode(t, host, "sh", "-c", "wc -l < "+file+" || echo 0"))
	}
}

func TestACommandRunsOnceWhateverHappensToTheOperator(t *testing.T) {
	c := newChores(t)
	var lines []func() string
	for i := range 8 {
		lines = append(lines, c.counts(t, "node1", fmt.Sprint("chore-", i), "5"))
		time.Sleep(time.Duration(i*100) * time.Millisecond) // another moment of its life
		c.kill(t, c.leader(t, "machines"))
	}
	for i, count := range lines {
		if a := c.await(t, fmt.Sprint("chore-", i), egov1.StateSucceeded); count() != "1" {
			t.Errorf("expected the command of %s to have run once, it ran %s times", a.Name, count())
		}
	}
}

func TestACommandRunsOnceThoughItsHostCrashes(t *testing.T) {
	c := newChores(t)
	count := c.counts(t, "node3", "chore", "600")
	c.await(t, "chore", egov1.StateRunning)
	eventually.True(t, time.Minute, "the command has begun", func() error {
		if got := count(); got != "1" {
			return fmt.Errorf("it ran %s times", got)
		}
		return nil
	})
	c.cluster.run(t, "localcluster", "node", "crash", "node3")
	eventually.True(t, time.Minute, "Ready tells that the host does not answer", func() error {
		if a := c.get(t, "chore"); !strings.Contains(says(a), "does not answer") {
			return fmt.Errorf("it says %s", says(a))
		}
		return nil
	})
	c.cluster.run(t, "localcluster", "node", "start", "node3")
	a := c.await(t, "chore", egov1.StateUnknown, egov1.StateFailed)
	if got := count(); got != "1" {
		t.Errorf("expected the command to have run once, it ran %s times; %s", got, says(a))
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
	c.run(t, "repair", "hostname", onHost("node2"), func(a *egov1.Activity) { a.Spec.Placement = egov1.PlacementRepair })
	if a := c.await(t, "repair", egov1.StateSucceeded); !strings.Contains(a.Status.Output, "node2") {
		t.Errorf("expected it to run on node2, got %q", a.Status.Output)
	}
	eventually.True(t, time.Minute, "the other one tells why it waits", func() error {
		if a := c.get(t, "routine"); a.Status.Prosta != egov1.StatePending || !strings.Contains(says(a), "taint") && !strings.Contains(says(a), "unschedulable") {
			return fmt.Errorf("it is %s and says %s", a.Status.Prosta, says(a))
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
			return fmt.Errorf("%d have", done)
		}
		return nil
	})
}
