// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const fencedAndOut = "fenced out-of-service=fenced-by-opcrew:NoExecute"

func TestADeadMachineIsFencedAndItsTaintsGoWhenItReturns(t *testing.T) {
	s := newSite(t, "fenced")
	s.die(s.dead, "10.99.0.1", map[string]string{s.role(): ""})
	s.create("true", "echo off")
	s.awaitTaints(fencedAndOut)
	p := s.await(nodesv1.NodePoolRemediation, "True Remediating", "Fenced: "+s.dead)
	if p.Status.FencedNodes != 1 || len(p.Status.Remediation) != 1 || len(p.Status.Remediation[0].Evidence) != 4 {
		t.Errorf("expected the status to show the evidence, got %+v", p.Status.RemediationStatus)
	}
	runs := s.runs()
	if fmt.Sprint(len(runs["fence"]), len(runs["power-1"]), len(runs["power-2"]), len(runs["peer-1"]), len(runs["peer-2"])) != "1 1 1 1 1" {
		t.Errorf("expected one Activity for each role, got %v", runs)
	}
	if who := runs["fence"][0].Spec.Requester; who == nil || !strings.Contains(p.Annotations["opcrew.io/requester"], who.Username) {
		t.Errorf("expected the fence command to have the requester of the pool, got %+v", who)
	}
	t.Logf("status.remediation:\n%+v", p.Status.Remediation[0])
	s.operator.ExpectNoWork(func() { s.change(`{"metadata":{"labels":{"note":"a"}}}`) })
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}

	// The taint of opcrew is repaired. The one of Kubernetes follows.
	n := s.node(s.dead)
	n.Spec.Taints = withoutKey(n.Spec.Taints, outOfService)
	s.must(env.Client.Update(t.Context(), n))
	s.awaitTaints(fencedAndOut)

	s.boots("second-boot")
	s.awaitTaints("")
	s.await(nodesv1.NodePoolRemediation, "True NoDeadNodes")
	s.await(nodesv1.NodePoolReady, "True AsWanted")
}

func withoutKey(taints []corev1.Taint, key string) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range taints {
		if t.Key != key {
			out = append(out, t)
		}
	}
	return out
}

// The fence command ends with exit code 0, and the machine still runs.
func TestAFenceCommandThatLiesLeadsToNoTaint(t *testing.T) {
	for name, c := range map[string]struct{ power, address, says string }{
		"power": {"echo on", "10.99.0.1", `printed "on"`},
		"peers": {"echo off", "10.66.0.1", `printed "answer from 10.66.0.1"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "lies-"+name)
			s.die(s.dead, c.address, map[string]string{s.role(): ""})
			s.create("true", c.power)
			p := s.await(nodesv1.NodePoolReady, "False RemediationFailed", "after attempt 2 of 2", c.says)
			if got := s.taints(); got != "" {
				t.Errorf("expected no taint, got %q", got)
			}
			if n := len(s.runs()["fence"]); n != 2 || p.Status.Remediation[0].Phase != nodesv1.RemediationFailed {
				t.Errorf("expected two attempts, got %d and %+v", n, p.Status.Remediation)
			}
			s.operator.ExpectNoWork(func() { s.change(`{"metadata":{"labels":{"note":"a"}}}`) })
		})
	}
}

// The machine answers again with the same boot: everything that said that it was off was false.
func TestAMachineThatAnswersAfterItWasFencedIsReported(t *testing.T) {
	s := newSite(t, "answers")
	s.die(s.dead, "10.99.0.1", map[string]string{s.role(): ""})
	s.create("true", "echo off")
	s.awaitTaints(fencedAndOut)
	s.boots("first-boot")
	s.awaitTaints("answered")
	s.await(nodesv1.NodePoolReady, "False RemediationFailed", "reports something false")
	s.boots("second-boot")
	s.awaitTaints("")
	s.await(nodesv1.NodePoolReady, "True AsWanted")
}

func TestNothingOfARemediationIsLeftWhen(t *testing.T) {
	for name, end := range map[string]func(s *site){
		"removed": func(s *site) { s.change(`{"spec":{"remediation":null}}`) },
		"left": func(s *site) {
			n := s.node(s.dead)
			delete(n.Labels, s.role())
			s.must(env.Client.Update(s.Context(), n))
		},
		"deleted": func(s *site) {
			s.must(env.Client.Delete(s.Context(), s.get()))
			operator.Until(s.T, "no Activity is left", func() error {
				if left := s.runs(); len(left) > 0 {
					return fmt.Errorf("there are %v", left)
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "ends-"+name)
			s.die(s.dead, "10.99.0.1", map[string]string{s.role(): ""})
			s.create("true", "echo off")
			s.awaitTaints(fencedAndOut)
			end(s)
			s.awaitTaints("")
		})
	}
}

// The control plane does not hear from most nodes: a partition on its own side.
func TestAPartitionOfTheControlPlaneRemediatesNoOne(t *testing.T) {
	s := newSite(t, "partition")
	for i := range 3 {
		s.die(fmt.Sprintf("%s-%d", s.dead, i), "10.99.0.1", map[string]string{s.role(): ""})
	}
	s.die(s.dead, "10.99.0.9", map[string]string{s.role(): ""})
	s.create("true", "echo off")
	s.await(nodesv1.NodePoolReady, "False RemediationHeld", "4 of the 7 nodes of the cluster are not Ready")
	eventually.Stays(t, operator.Silence, "no command runs", func() error {
		if runs := s.runs(); len(runs) > 0 {
			return fmt.Errorf("there are %v", runs)
		}
		return nil
	})
	if got := s.taints(); got != "" {
		t.Errorf("expected no taint, got %q", got)
	}
}

// Nodes count as Ready, but no kubelet renews its lease: the conditions in the API are old.
func TestOldConditionsOfNodesRemediateNoOne(t *testing.T) {
	s := newSite(t, "leases")
	for i := range 5 {
		n := &corev1.Node{}
		n.Name = fmt.Sprintf("leases-silent-%d", i)
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		s.must(env.Client.Create(t.Context(), n))
		t.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(t.Context()), n) })
	}
	s.die(s.dead, "10.99.0.1", map[string]string{s.role(): ""})
	s.create("true", "echo off")
	s.await(nodesv1.NodePoolReady, "False RemediationHeld", "only 3 of the 9 nodes of the cluster have renewed their leases")
	if runs := s.runs(); len(runs) > 0 {
		t.Errorf("expected no command, got %v", runs)
	}
}
