// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipelines

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestANodeCarriesTheTaintFromItsCreationUntilItHasJoined(t *testing.T) {
	s := newSite(t, "born")
	s.create(joins("true", "true"))
	trial := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "born-trial", Labels: map[string]string{s.role(): ""}}}
	operator.Until(t, "the API server sets the taint on a new node of the pool", func() error {
		if err := env.Client.Create(t.Context(), trial.DeepCopy(), client.DryRunAll); err != nil {
			return err
		}
		n := trial.DeepCopy()
		if err := env.Client.Create(t.Context(), n, client.DryRunAll); err != nil || !joining(n) {
			return fmt.Errorf("it has %v (%w)", n.Spec.Taints, err)
		}
		return nil
	})
	other := trial.DeepCopy()
	other.Labels = nil
	s.must(env.Client.Create(t.Context(), other, client.DryRunAll))
	if joining(other) {
		t.Error("expected no taint on a node that is not in the pool")
	}
	mark := env.Audit.Mark(t)
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.joined(name)
	accepted := func(c testenv.Call) bool { return c.Code < 400 } // Kubernetes changes the taints of a new node, too
	if writes := env.Calls(t, mark).Writes().On("nodes").Named("", name).Where(accepted); len(writes) != 2 {
		t.Errorf("expected a node to be written when it begins to join and when it has joined, got:\n%s", writes)
	}
	all := s.awaitSteps(name+" join step-1 1: Succeeded", name+" join step-2 1: Succeeded")
	for step, a := range all {
		if a.Spec.Requester == nil || !strings.Contains(s.get().Annotations["opcrew.io/requester"], a.Spec.Requester.Username) || a.Spec.Placement != "Repair" {
			t.Errorf("expected %s to have the requester of the pool, got %+v", step, a.Spec)
		}
	}
	s.await(nodesv1.NodePoolReady, "True AsWanted")
	s.await(nodesv1.NodePoolPipelines, "True NoneRunning")
	s.operator.ExpectNoWork(func() { s.change(`{"metadata":{"labels":{"note":"a"}}}`) })
}

func TestAFailedStepKeepsTheNodeOutUntilThePipelineIsCorrected(t *testing.T) {
	s := newSite(t, "failing")
	s.create(joins("true", "false"))
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	p := s.await(nodesv1.NodePoolReady, "False StepFailed", "Node "+name+" cannot join", "step step-2 (2 of 2) has failed once", "exit code 1", "delete Activity")
	if st := p.Status; st.JoiningNodes != 1 || st.FailedPipelines != 1 || len(st.Pipelines) != 1 || !st.Pipelines[0].Failed || st.Pipelines[0].Step != "step-2" {
		t.Errorf("expected the status to show the failed step, got %+v", st.PipelineStatus)
	}
	if !joining(s.node(name)) {
		t.Error("expected the node to keep the taint")
	}
	all := s.awaitSteps(name+" join step-1 1: Succeeded", name+" join step-2 1: Failed")
	s.operator.ExpectNoWork(func() { s.change(`{"metadata":{"labels":{"note":"a"}}}`) })
	again := all[name+" join step-2 1: Failed"]
	s.must(env.Client.Delete(t.Context(), &again))
	operator.Until(t, "the step has run again", func() error {
		for _, a := range s.steps() {
			if a.UID != again.UID && a.Name == again.Name && a.Status.Prosta == "Failed" {
				return nil
			}
		}
		return fmt.Errorf("there are %q", keys(s.steps()))
	})
	s.await(nodesv1.NodePoolReady, "False StepFailed")
	s.change(`{"spec":{"onJoin":{"steps":[{"name":"other","template":{"command":"true"}}]}}}`)
	s.joined(name)
	s.await(nodesv1.NodePoolReady, "True AsWanted")
}

func TestAStepIsRepeatedAndWithContinueTheNodeJoinsNevertheless(t *testing.T) {
	s := newSite(t, "repeat")
	s.create(joins("false", "true"), func(p *nodesv1.NodePool) {
		p.Spec.OnJoin.FailurePolicy, p.Spec.OnJoin.Steps[0].Retries = nodesv1.FailurePolicyContinue, 1
	})
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.joined(name)
	s.awaitSteps(name+" join step-1 1: Failed", name+" join step-1 2: Failed", name+" join step-2 1: Succeeded")
	s.await(nodesv1.NodePoolReady, "True AsWanted")
}

func TestAPipelineThatNeverEndsIsCancelled(t *testing.T) {
	s := newSite(t, "endless")
	s.create(joins("sleep"), within(4))
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.await(nodesv1.NodePoolReady, "False PipelineTimedOut", "within 4s", "step step-1")
	s.awaitSteps(name + " join step-1 1: Cancelled")
	if !joining(s.node(name)) {
		t.Error("expected the node to keep the taint")
	}
	s.change(`{"spec":{"onJoin":{"failurePolicy":"Continue"}}}`)
	s.joined(name)
}

func TestMembersDoNotJoinAgain(t *testing.T) {
	s := newSite(t, "members")
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.create()
	s.await(nodesv1.NodePoolReady, "True AsWanted")
	s.change(`{"spec":{"onJoin":{"steps":[{"name":"one","template":{"command":"true"}}]}}}`)
	s.await(nodesv1.NodePoolPipelines, "True NoneRunning")
	if n := s.node(name); joining(n) || len(s.steps()) > 0 {
		t.Errorf("expected no step on a member, got %v %q", n.Spec.Taints, keys(s.steps()))
	}
	s.label(name, nil)
	s.left(name)
	s.label(name, new(""))
	s.joined(name)
	s.awaitSteps(name + " join one 1: Succeeded")
}

func TestNoStepStartsInAPausedPool(t *testing.T) {
	s := newSite(t, "held")
	s.create(joins("sleep", "true"), func(p *nodesv1.NodePool) { p.Spec.OnJoin.FailurePolicy = nodesv1.FailurePolicyContinue })
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.awaitSteps(name + " join step-1 1: Running")
	s.change(`{"metadata":{"annotations":{"opcrew.io/paused":"true"}}}`)
	for _, a := range s.steps() {
		s.must(env.Client.Patch(t.Context(), &a, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"cancel":true}}`))))
	}
	s.await(nodesv1.NodePoolPipelines, "False Paused")
	env.Settled(t, env.Audit.Mark(t))
	s.awaitSteps(name + " join step-1 1: Cancelled")
	s.change(`{"metadata":{"annotations":{"opcrew.io/paused":null}}}`)
	s.joined(name)
}

// A machine that dies in the middle of its pipeline often comes back as another Node with the same name.
func TestANodeThatDiesWhileItJoinsStartsAgainAsANewNode(t *testing.T) {
	s := newSite(t, "dying")
	s.create(joins("sleep"))
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.awaitSteps(name + " join step-1 1: Running")
	old := s.node(name)
	s.must(env.Client.Delete(t.Context(), old))
	s.await(nodesv1.NodePoolReady, "True NoNodes")
	operator.Until(t, "the step has ended", func() error {
		for step, a := range s.steps() {
			if a.Status.Prosta == "Running" || a.Status.Prosta == "Pending" {
				return errors.New(step)
			}
		}
		return nil
	})
	s.change(`{"spec":{"onJoin":{"steps":[{"name":"short","template":{"command":"true"}}]}}}`)
	fresh := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: old.Labels}}
	fresh.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	s.must(env.Client.Create(t.Context(), fresh))
	operator.Until(t, "the new node joins", func() error {
		for step := range s.steps() {
			if strings.HasPrefix(step, name+" join short 1") {
				return nil
			}
		}
		return fmt.Errorf("there are %q", keys(s.steps()))
	})
}
