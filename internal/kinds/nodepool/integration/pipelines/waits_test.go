// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipelines

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// The scheduler names only a taint that a user of the host may not know.
func TestAnActivityOnANodeThatJoinsSaysWhatItWaitsForAndHowToRunNow(t *testing.T) {
	s := newSite(t, "waits")
	s.create(joins("sleep"), func(p *nodesv1.NodePool) { p.Spec.Taints = nil })
	name := s.nodes(1, map[string]string{s.role(): ""})[0]
	operator.Until(t, "the node joins", func() error {
		if n := s.node(name); !joining(n) || !strings.Contains(n.Annotations[ledger], `"Joining"`) {
			return fmt.Errorf("it has %v %s", n.Spec.Taints, n.Annotations[ledger])
		}
		return nil
	})
	ns := env.Namespace(t)
	env.Clear(t, &egov1.ActivityList{}, ns)
	for activity, placement := range map[string]egov1.Placement{"scheduled": egov1.PlacementSchedule, "repair": egov1.PlacementRepair} {
		a := &egov1.Activity{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: activity}}
		a.Spec.Command, a.Spec.Host, a.Spec.Placement = "true", name, placement
		s.must(env.Client.Create(t.Context(), a))
	}
	s.awaitRun(ns, "repair", egov1.StateSucceeded)
	message := s.awaitRun(ns, "scheduled", egov1.StatePending, "node "+name+" carries the taint opcrew.io/nodepool-joining until spec.onJoin of NodePool waits has run there; an Activity with placement: Repair runs there now")
	t.Log(message)

	s.change(`{"spec":{"onJoin":{"steps":[{"name":"step-1","template":{"command":"true"}}]}}}`)
	s.joined(name)
	s.awaitRun(ns, "scheduled", egov1.StateSucceeded)
}

func TestAFleetOfAnUnknownPoolSaysSoUntilThePoolExists(t *testing.T) {
	s := newSite(t, "unknown")
	ns := env.Namespace(t)
	env.Clear(t, &egov1.ActivityList{}, ns)
	a := &egov1.Activity{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "upgrade"}}
	a.Spec.Command, a.Spec.Hosts = "true", &egov1.Hosts{NodePool: s.name}
	s.must(env.Client.Create(t.Context(), a))
	t.Log(s.awaitRun(ns, "upgrade", egov1.StatePending, "no node matches hosts.nodePool unknown, because this NodePool does not exist; create it"))
	s.create(func(p *nodesv1.NodePool) { p.Spec.Taints = nil })
	s.awaitRun(ns, "upgrade", egov1.StatePending, "no node matches hosts.nodePool unknown; the run starts when a node does")
	env.Rests(t)
	s.nodes(1, map[string]string{s.role(): ""})
	s.awaitRun(ns, "upgrade", egov1.StateSucceeded)
}

// awaitRun waits until an Activity has a state, and its message contains the words. It returns the message.
func (s *site) awaitRun(ns, name string, state egov1.State, words ...string) string {
	s.Helper()
	message := ""
	operator.Until(s.T, fmt.Sprintf("%s is %s %q", name, state, words), func() error {
		a := &egov1.Activity{}
		if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: ns, Name: name}, a); err != nil {
			return err
		}
		if c := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady); c != nil {
			message = c.Message
		}
		for _, word := range words {
			if !strings.Contains(message, word) {
				return fmt.Errorf("it says %q", message)
			}
		}
		if a.Status.Prosta != state {
			return fmt.Errorf("it is %s, and says %q", a.Status.Prosta, message)
		}
		return nil
	})
	return message
}
