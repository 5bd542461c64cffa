// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fleets tests with an operator that serves MachineConfig and Activity that no two of them work on one node.
// Nodes are simulated, and package machineagents plays the machine agents.
package fleets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, machineconfig.Kind(), activity.Kind()) }

// site is the environment of a test: a pool with two nodes, and a node of no pool.
type site struct {
	*testing.T
	pool, ns string
	nodes    []string
}

func newSite(t *testing.T, pool string) *site {
	t.Helper()
	role := map[string]string{"node-role.kubernetes.io/" + pool: ""}
	s := &site{T: t, pool: pool, ns: env.Namespace(t), nodes: env.Nodes(t, 2, testenv.NodeSpec{Prefix: pool, Labels: role})}
	env.Nodes(t, 1, testenv.NodeSpec{Prefix: pool + "-spare"})
	env.Operator(t)
	env.Clear(t, &egov1.ActivityList{}, s.ns)
	operator.Until(t, "the requester is filled in", func() error {
		a := s.fleet("true")
		if err := env.Client.Create(t.Context(), a, client.DryRunAll); err != nil || a.Spec.Requester != nil {
			return err
		}
		return errors.New("spec.requester is empty")
	})
	env.PolicyAges(t)
	machineagents.Follow(t, env.Client)
	return s
}

// fleet returns a fleet on the first node of the pool.
func (s *site) fleet(command string) *egov1.Activity {
	a := &egov1.Activity{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "upgrade"}}
	a.Spec.Command, a.Spec.Hosts = command, &egov1.Hosts{Names: []egov1.HostName{egov1.HostName(s.nodes[0])}}
	return a
}

// configure creates a MachineConfig, and the pool.
func (s *site) configure() {
	s.Helper()
	mc := &mcfgv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: "50-" + s.pool, Labels: map[string]string{mcfgv1.RoleLabel: s.pool}}}
	mc.Spec.Config.Raw = []byte(`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`)
	p := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: s.pool}}
	p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"node-role.kubernetes.io/" + s.pool: ""}}
	p.Spec.MachineConfigSelector = &metav1.LabelSelector{MatchLabels: map[string]string{mcfgv1.RoleLabel: s.pool}}
	p.Spec.MaxUnavailable = new(intstr.FromInt32(2))
	s.create(mc, p)
}

func (s *site) create(objects ...client.Object) {
	s.Helper()
	for _, o := range objects {
		if err := env.Client.Create(s.Context(), o); err != nil {
			s.Fatalf("creating %s: %v", o.GetName(), err)
		}
		s.Cleanup(func() {
			if err := client.IgnoreNotFound(env.Client.Delete(context.WithoutCancel(s.Context()), o)); err != nil {
				s.Error(err)
			}
		})
	}
}

func (s *site) drop(object client.Object) {
	s.Helper()
	if err := env.Client.Delete(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// blocker creates a pod on the first node that cannot be evicted before the returned budget is deleted.
func (s *site) blocker() client.Object {
	s.Helper()
	labels := map[string]string{"app": "db"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "db", Labels: labels}}
	pod.Spec = corev1.PodSpec{NodeName: s.nodes[0], Containers: []corev1.Container{{Name: "db", Image: "db"}}}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "db"}}
	budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels}}
	s.create(pod, budget)
	return budget
}

// awaitPool waits until one node of the pool has its configuration, and the message about the other has the words; or,
// without words, until both have it.
func (s *site) awaitPool(updated int32, words string) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("%d nodes of the pool are updated, and it says %q", updated, words), func() error {
		p := &mcfgv1.MachineConfigPool{}
		if err := env.Client.Get(s.Context(), client.ObjectKey{Name: s.pool}, p); err != nil {
			return err
		}
		blocked := meta.FindStatusCondition(p.Status.Conditions, mcfgv1.PoolRolloutBlocked)
		if p.Status.UpdatedMachineCount != updated || blocked == nil || !strings.Contains(blocked.Message, words) {
			return fmt.Errorf("the status is %+v", p.Status)
		}
		return nil
	})
}

func (s *site) awaitFleet(state egov1.State, words string) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("the fleet is %s and says %q", state, words), func() error {
		a := &egov1.Activity{}
		if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: "upgrade"}, a); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady)
		if a.Status.Prosta != state || ready == nil || !strings.Contains(ready.Message, words) {
			return fmt.Errorf("it is %s, Ready %+v", a.Status.Prosta, ready)
		}
		return nil
	})
}
