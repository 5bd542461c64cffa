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

// chores is a namespace with Activities that run on the machines of the local cluster.
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
	c.removePools(t) // otherwise, taints of NodePools from earlier tests would keep commands off two hosts
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
func repairs(a *egov1.Activity)  { a.Spec.Placement = egov1.PlacementRepair }

// args returns an option that sets a program and its arguments, which run without a shell.
func args(args ...egov1.Arg) chore {
	return func(a *egov1.Activity) { a.Spec.Command, a.Spec.Args = "", args }
}

func (c *chores) declared(name, command string, options ...chore) *egov1.Activity {
	a := &egov1.Activity{}
	a.Namespace, a.Name = c.ns, name
	a.Spec.Command, a.Spec.Host = command, "node1"
	for _, o := range options {
		o(a)
	}
	return a
}

func (c *chores) run(t *testing.T, name, command string, options ...chore) {
	t.Helper()
	if err := c.Create(t.Context(), c.declared(name, command, options...)); err != nil {
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

// await waits until the Activity has one of the given states.
func (c *chores) await(t *testing.T, name string, states ...egov1.State) *egov1.Activity {
	t.Helper()
	var a *egov1.Activity
	eventually.True(t, 3*time.Minute, fmt.Sprintf("%s is %v", name, states), func() error {
		if a = c.get(t, name); !slices.Contains(states, a.Status.Prosta) {
			ready := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady)
			return fmt.Errorf("the Activity is %s: %+v", a.Status.Prosta, ready)
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

// awaitWords waits until the message of the condition Ready contains the given words.
func (c *chores) awaitWords(t *testing.T, name, words string) *egov1.Activity {
	t.Helper()
	var a *egov1.Activity
	eventually.True(t, 2*time.Minute, fmt.Sprintf("Ready of %s contains %q", name, words), func() error {
		if a = c.get(t, name); !strings.Contains(says(a), words) {
			return fmt.Errorf("the Activity is %s with the message %q", a.Status.Prosta, says(a))
		}
		return nil
	})
	return a
}

// onNode runs a command on a node without using Kubernetes, and returns its output.
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
