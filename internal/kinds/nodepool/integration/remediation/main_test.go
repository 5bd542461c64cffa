// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package remediation tests spec.remediation of NodePool with an operator that also serves Activity, its ServiceAccount,
// roles and admission policies. Nodes are simulated. On them, the command true ends by itself, echo off and echo on print
// that, and a probe gets an answer from addresses in 10.66.0.0/16.
package remediation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, nodepool.Kind(), activity.Kind()) }

const (
	activities   = "opcrew-activities"
	outOfService = "node.kubernetes.io/out-of-service"
)

// site is the environment of a test: one NodePool with three nodes that are Ready and one that is not, and the operator.
type site struct {
	*testing.T
	name     string
	operator *operator.Process
	dead     string
}

// newSite starts the operator, and waits until it trusts the admission policies.
func newSite(t *testing.T, name string) *site {
	t.Helper()
	s := &site{T: t, name: name, operator: env.Operator(t), dead: name + "-dead"}
	env.TrustsRequesters(t, s.pool("true", "echo off"))
	s.nodes(3)
	return s
}

// pool returns a NodePool whose nodes are remediated after a minute.
func (s *site) pool(fence, power string) *nodesv1.NodePool {
	p := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	p.Spec.Labels = map[string]nodesv1.LabelValue{"tier": nodesv1.LabelValue(s.name)}
	p.Spec.Remediation = &nodesv1.Remediation{
		After: "1m", MinHealthy: new(intstr.FromInt32(1)), PauseSeconds: new(int64(10)), MaxAttempts: new(int32(2)),
		Fence:       nodesv1.RemediationCommand{Command: fence},
		PowerStatus: nodesv1.RemediationCommand{Command: power},
	}
	return p
}

func (s *site) create(fence, power string) {
	s.Helper()
	s.must(env.Client.Create(s.Context(), s.pool(fence, power)))
	env.Clear(s.T, &nodesv1.NodePoolList{}, "")
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *site) role() string { return nodesv1.RolePrefix + s.name }

func (s *site) nodes(n int) []string {
	s.Helper()
	return env.Nodes(s.T, n, testenv.NodeSpec{Prefix: s.name, Labels: map[string]string{s.role(): ""}, Mutate: func(node *corev1.Node) {
		node.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "runc"}}
	}})
}

// die creates a node that has not been Ready for ten minutes. The simulation sends no heartbeats for it.
func (s *site) die(name, address string, labels map[string]string) {
	s.Helper()
	past := metav1.NewTime(time.Now().Add(-10 * time.Minute))
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: past, LastHeartbeatTime: metav1.Now()}}
	n.Status.NodeInfo.BootID = "first-boot"
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
	n.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "runc"}}
	s.must(env.Client.Create(s.Context(), n))
	s.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(s.Context()), n) })
}

// boots makes the dead node Ready, with a boot ID.
func (s *site) boots(boot string) {
	s.Helper()
	n := s.node(s.dead)
	n.Status.NodeInfo.BootID = boot
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now()}}
	s.must(env.Client.Status().Update(s.Context(), n))
}

func (s *site) node(name string) *corev1.Node {
	s.Helper()
	n := &corev1.Node{}
	s.must(env.Client.Get(s.Context(), client.ObjectKey{Name: name}, n))
	return n
}

func (s *site) get() *nodesv1.NodePool {
	s.Helper()
	p := &nodesv1.NodePool{}
	s.must(env.Client.Get(s.Context(), client.ObjectKey{Name: s.name}, p))
	return p
}

func (s *site) change(patch string) {
	s.Helper()
	s.must(env.Client.Patch(s.Context(), s.get(), client.RawPatch(types.MergePatchType, []byte(patch))))
}

// await waits until a condition of the NodePool has a status and reason, and its message contains the words.
func (s *site) await(kind, statusReason string, words ...string) *nodesv1.NodePool {
	s.Helper()
	var p *nodesv1.NodePool
	operator.Until(s.T, fmt.Sprintf("%s is %s %q", kind, statusReason, words), func() error {
		p = s.get()
		c := meta.FindStatusCondition(p.Status.Conditions, kind)
		if c == nil || p.Status.ObservedGeneration != p.Generation || string(c.Status)+" "+c.Reason != statusReason {
			return fmt.Errorf("it is %+v, the status %+v", c, p.Status.RemediationStatus)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				return fmt.Errorf("it says %q", c.Message)
			}
		}
		return nil
	})
	return p
}

// taints returns the taints of opcrew and the out-of-service taint of the dead node.
func (s *site) taints() string {
	s.Helper()
	var out []string
	for _, t := range s.node(s.dead).Spec.Taints {
		if t.Key == nodesv1.FencedTaint {
			value, _, answered := strings.Cut(t.Value, "-")
			if !answered {
				value = "fenced"
			}
			out = append(out, value)
		}
		if t.Key == outOfService {
			out = append(out, "out-of-service="+t.Value+":"+string(t.Effect))
		}
	}
	return strings.Join(out, " ")
}

func (s *site) awaitTaints(want string) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("the taints are %q", want), func() error {
		if got := s.taints(); got != want {
			return fmt.Errorf("they are %q", got)
		}
		return nil
	})
}

// runs returns the Activities of the remediation by role.
func (s *site) runs() map[string][]egov1.Activity {
	s.Helper()
	list := &egov1.ActivityList{}
	s.must(env.Client.List(s.Context(), list, client.InNamespace(activities), client.MatchingLabels{"opcrew.io/nodepool": s.name}))
	out := map[string][]egov1.Activity{}
	for _, a := range list.Items {
		out[a.Labels["opcrew.io/remediation"]] = append(out[a.Labels["opcrew.io/remediation"]], a)
	}
	return out
}
