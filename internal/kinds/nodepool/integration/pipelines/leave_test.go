// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipelines

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestANodeKeepsItsSettingsUntilItHasLeft(t *testing.T) {
	s := newSite(t, "leaving")
	s.create(leaves("sleep"))
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.await(nodesv1.NodePoolReady, "True AsWanted", "1 node up to date")
	s.label(name, nil)
	all := s.awaitSteps(name + " leave step-1 1: Running")
	p := s.await(nodesv1.NodePoolPipelines, "True Running", "Leaving: 1 node ("+name+")")
	if p.Status.LeavingNodes != 1 || p.Status.NodeCount != 0 {
		t.Errorf("expected a node that leaves to count as such, and not as a member, got %+v", p.Status)
	}
	n := s.node(name)
	if n.Labels["tier"] != s.name || n.Labels[s.role()] != "" || joining(n) {
		t.Errorf("expected the node to keep the settings without the role, got %v", n.Labels)
	}
	for _, a := range all {
		s.must(env.Client.Patch(t.Context(), &a, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"cancel":true}}`))))
	}
	s.left(name)
	s.await(nodesv1.NodePoolPipelines, "True NoneRunning")
	s.operator.ExpectNoWork(func() { s.change(`{"metadata":{"labels":{"note":"a"}}}`) })
}

func TestADeletedPoolWaitsForItsNodes(t *testing.T) {
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(how), func(t *testing.T) {
			s := newSite(t, "deleted")
			s.create(leaves("true", "true"))
			names := s.nodes(2, map[string]string{s.role(): ""})
			s.await(nodesv1.NodePoolReady, "True AsWanted", "2 nodes up to date")
			mark := env.Audit.Mark(t)
			s.delete(client.PropagationPolicy(how))
			s.gone()
			for _, name := range names {
				s.left(name)
			}
			if created := env.Calls(t, mark).Writes().On("activities").Verb("create", "patch"); len(created) < 4 {
				t.Errorf("expected two steps on two nodes, got:\n%s", created)
			}
			operator.Until(t, "no Activity is left", func() error {
				if left := s.steps(); len(left) > 0 {
					return fmt.Errorf("there are %q", keys(left))
				}
				return nil
			})
		})
	}
}

func TestANodeThatLeavesWaitsOnlyUntilTheTimeout(t *testing.T) {
	s := newSite(t, "slow")
	s.create(leaves("sleep"), within(4))
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.await(nodesv1.NodePoolReady, "True AsWanted", "1 node up to date")
	s.label(name, nil)
	begin := time.Now()
	s.awaitSteps(name + " leave step-1 1: Running")
	s.left(name)
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("expected the node to wait for the timeout, it took %s", took)
	}
	s.awaitSteps(name + " leave step-1 1: Cancelled")
}

func TestANodeThatLeavesWhileItJoins(t *testing.T) {
	s := newSite(t, "fickle")
	s.create(joins("sleep"), leaves("true"))
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	s.awaitSteps(name + " join step-1 1: Running")
	s.label(name, nil)
	s.left(name)
	s.awaitSteps(name+" join step-1 1: Cancelled", name+" leave step-1 1: Succeeded")
}
