// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	// prepared is the file that the steps of the pool create on its nodes.
	prepared = "/var/tmp/opcrew-prepared"
	// stepTime is how long steps with short commands may take, also on a busy machine.
	stepTime = 3 * time.Minute
)

// preparing returns a NodePool whose nodes run these commands when they join.
func preparing(join string, more string) string {
	return `
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: prepared}
spec:
  labels: {example.com/tier: prepared}
  onJoin:
    steps:
    - {name: prepare, retries: 1, template: {command: ` + fmt.Sprintf("%q", join) + `}}
    - {name: check, template: {args: [/usr/bin/test, -e, ` + prepared + `]}}
` + more
}

const cleanUp = `
  onLeave:
    steps: [{name: clean-up, template: {command: "rm ` + prepared + `"}}]
`

// pipelines connects to the cluster, and leaves no pool and no file of a step behind.
func pipelines(t *testing.T) *chores {
	t.Helper()
	c := newChores(t)
	tidy := func() {
		c.kubectl(t, "label", "nodes", "--all", nodesv1.RolePrefix+"prepared-")
		c.kubectl(t, "delete", "nodepools", "--all", "--timeout=180s")
		c.onNode(t, "node3", "rm", "-f", prepared)
	}
	tidy()
	t.Cleanup(tidy)
	return c
}

func (c *chores) apply(t *testing.T, manifest string) {
	t.Helper()
	cmd := c.program("kubectl", "apply", "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func (c *chores) poolNode(t *testing.T) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "node3"}, n); err != nil {
		t.Fatal(err)
	}
	return n
}

func joinsPool(n *corev1.Node) bool {
	for _, taint := range n.Spec.Taints {
		if taint.Key == nodesv1.JoiningTaint {
			return true
		}
	}
	return false
}

// wantMember waits until node3 is a member without the taint of nodes that join, or has left the pool.
func (c *chores) wantMember(t *testing.T, member bool) {
	t.Helper()
	eventually.True(t, stepTime, fmt.Sprintf("node3 is a member: %t", member), func() error {
		n := c.poolNode(t)
		if joinsPool(n) || (n.Labels["example.com/tier"] == "prepared") != member || (n.Annotations["opcrew.io/nodepools"] != "") != member {
			return fmt.Errorf("it has %v %v %s", n.Labels, n.Spec.Taints, n.Annotations["opcrew.io/nodepools"])
		}
		return nil
	})
}

// wantStep waits until an attempt of a step on node3 has a state.
func (c *chores) wantStep(t *testing.T, step string, attempt int, state egov1.State) *egov1.Activity {
	t.Helper()
	var found *egov1.Activity
	eventually.True(t, stepTime, fmt.Sprintf("attempt %d of step %s is %s", attempt, step, state), func() error {
		list := &egov1.ActivityList{}
		labels := client.MatchingLabels{"opcrew.io/pipeline-step": step, "opcrew.io/pipeline-attempt": fmt.Sprint(attempt)}
		if err := c.List(t.Context(), list, client.InNamespace("opcrew-activities"), labels); err != nil {
			return err
		}
		states := []egov1.State{}
		for i := range list.Items {
			if found = &list.Items[i]; found.Status.Prosta == state {
				return nil
			}
			states = append(states, found.Status.Prosta)
		}
		return fmt.Errorf("there are %q", states)
	})
	return found
}

func (c *chores) prepared(t *testing.T) bool {
	t.Helper()
	return strings.TrimSpace(c.onNode(t, "node3", "sh", "-c", "test -e "+prepared+" && echo yes || echo no")) == "yes"
}

func TestANodeIsPreparedBeforeItJoinsAndCleanedUpAfterItHasLeft(t *testing.T) {
	c := pipelines(t)
	c.apply(t, preparing("sleep 5 && touch "+prepared, cleanUp))
	c.role(t, "node3", "prepared")
	eventually.True(t, soon, "node3 carries the taint while it joins", func() error {
		if n := c.poolNode(t); !joinsPool(n) {
			return fmt.Errorf("it has %v", n.Spec.Taints)
		}
		return nil
	})
	c.wantMember(t, true)
	if !c.prepared(t) {
		t.Error("expected the step to have run on node3")
	}
	c.wantPool(t, "prepared", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	c.wantQuiet(t, 5*time.Second)
	t.Logf("%s", c.kubectl(t, "get", "npool", "-o", "wide"))
	t.Logf("%s", c.kubectl(t, "get", "activities", "-n", "opcrew-activities"))

	c.kubectl(t, "label", "node", "node3", nodesv1.RolePrefix+"prepared-")
	c.wantMember(t, false)
	if c.prepared(t) {
		t.Error("expected the step of onLeave to have run on node3")
	}
	c.role(t, "node3", "prepared")
	c.wantMember(t, true)
	c.kubectl(t, "delete", "nodepool", "prepared", "--timeout=180s")
	c.wantMember(t, false)
	if c.prepared(t) {
		t.Error("expected the deletion of the pool to run onLeave on node3")
	}
}

func TestAStepThatFailsKeepsTheNodeOutAndShowsWhy(t *testing.T) {
	c := pipelines(t)
	c.apply(t, preparing("echo no disk >&2; exit 7", ""))
	c.role(t, "node3", "prepared")
	pool := c.wantPoolWithin(t, stepTime, metav1.ConditionFalse, nodesv1.ReasonStepFailed)
	if p := pool.Status.Pipelines; len(p) != 1 || p[0].Step != "prepare" || p[0].Attempt != 2 || !strings.Contains(p[0].Message, "exit code 7") {
		t.Errorf("expected the status to show the step and its exit code, got %+v", p)
	}
	if !joinsPool(c.poolNode(t)) {
		t.Error("expected node3 to keep the taint")
	}
	t.Logf("%s", c.kubectl(t, "get", "npool", "prepared", "-o", "yaml"))
	c.apply(t, preparing("touch "+prepared, ""))
	c.wantMember(t, true)
}

func (c *chores) wantPoolWithin(t *testing.T, limit time.Duration, status metav1.ConditionStatus, reason string) *nodesv1.NodePool {
	t.Helper()
	pool := &nodesv1.NodePool{}
	eventually.True(t, limit, fmt.Sprintf("Ready is %s %s", status, reason), func() error {
		if err := c.Get(t.Context(), client.ObjectKey{Name: "prepared"}, pool); err != nil {
			return err
		}
		for _, r := range pool.Status.Conditions {
			if r.Type == nodesv1.NodePoolReady && r.Status == status && r.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %+v", pool.Status.Conditions)
	})
	return pool
}

func TestAPipelineThatNeverEndsIsCancelledOnTheNode(t *testing.T) {
	c := pipelines(t)
	c.apply(t, preparing("exec sleep 98765", "    timeoutSeconds: 20\n"))
	c.role(t, "node3", "prepared")
	c.wantStep(t, "prepare", 1, egov1.StateRunning)
	c.wantPoolWithin(t, stepTime, metav1.ConditionFalse, nodesv1.ReasonPipelineTimedOut)
	c.wantStep(t, "prepare", 1, egov1.StateCancelled)
	if out := c.onNode(t, "node3", "sh", "-c", "pgrep -f 'sleep 9876[5]' || true"); strings.TrimSpace(out) != "" {
		t.Errorf("expected the command to have ended on node3, it runs as %s", out)
	}
}

func TestANodeThatIsKilledInTheMiddleOfItsPipelineContinues(t *testing.T) {
	c := pipelines(t)
	c.apply(t, preparing("test -e "+prepared+" || { touch "+prepared+"; exec sleep 600; }", ""))
	c.role(t, "node3", "prepared")
	c.wantStep(t, "prepare", 1, egov1.StateRunning)
	c.crash(t, "node3")
	time.Sleep(50 * time.Second) // until Kubernetes has noticed; there is no event of opcrew to wait for
	if !joinsPool(c.poolNode(t)) {
		t.Error("expected the node to keep the taint while it is down")
	}
	c.start(t, "node3")
	c.wantStep(t, "prepare", 2, egov1.StateSucceeded)
	c.wantMember(t, true)
}

func TestANodeThatLeavesWhileItJoinsEndsItsStepFirst(t *testing.T) {
	c := pipelines(t)
	c.apply(t, preparing("touch "+prepared+"; exec sleep 98764", cleanUp))
	c.role(t, "node3", "prepared")
	c.wantStep(t, "prepare", 1, egov1.StateRunning)
	c.kubectl(t, "label", "node", "node3", nodesv1.RolePrefix+"prepared-")
	c.wantStep(t, "prepare", 1, egov1.StateCancelled)
	c.wantMember(t, false)
	if c.prepared(t) {
		t.Error("expected the step of onLeave to have run after the step of onJoin was cancelled")
	}
}

// The operator is killed while node3 joins and leaves. Every step must run once, and the node must end as wanted.
func TestPipelinesSurviveKillsOfTheOperator(t *testing.T) {
	c := pipelines(t)
	count := "/var/tmp/opcrew-count"
	c.onNode(t, "node3", "rm", "-f", count)
	t.Cleanup(func() { c.onNode(t, "node3", "rm", "-f", count) })
	c.apply(t, preparing("echo joined >> "+count+"; sleep 5; touch "+prepared, cleanUp))
	c.role(t, "node3", "prepared")
	for range 3 {
		c.kill(t, c.leader(t, "machines"))
		c.waitOperator(t, "machines")
	}
	c.wantMember(t, true)
	if out := strings.TrimSpace(c.onNode(t, "node3", "cat", count)); out != "joined" {
		t.Errorf("expected the step to have run once, got %q", out)
	}
	c.kubectl(t, "label", "node", "node3", nodesv1.RolePrefix+"prepared-")
	c.kill(t, c.leader(t, "machines"))
	c.waitOperator(t, "machines")
	c.wantMember(t, false)
}
