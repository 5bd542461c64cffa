// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pipelines tests spec.onJoin and spec.onLeave of NodePool with an operator that also serves Activity, its
// ServiceAccount, roles and admission policies. Nodes are simulated. On them, the commands true and false end by
// themselves, and other commands end when they are stopped.
package pipelines

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, nodepool.Kind(), activity.Kind()) }

const (
	activities = "opcrew-activities"
	ledger     = "opcrew.io/nodepools"
)

// site is the environment of a test: one NodePool, and the operator.
type site struct {
	*testing.T
	name     string
	operator *operator.Process
}

// newSite starts the operator, and waits until it trusts the admission policies.
func newSite(t *testing.T, name string) *site {
	t.Helper()
	s := &site{T: t, name: name, operator: env.Operator(t)}
	env.TrustsRequesters(t, s.pool(joins("true")))
	return s
}

type option func(*nodesv1.NodePool)

func (s *site) pool(options ...option) *nodesv1.NodePool {
	p := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	p.Spec.Labels = map[string]nodesv1.LabelValue{"tier": nodesv1.LabelValue(s.name)}
	p.Spec.Taints = []nodesv1.Taint{{Key: "example.com/only", Value: s.name, Effect: "NoSchedule"}}
	for _, o := range options {
		o(p)
	}
	return p
}

// commands returns a pipeline whose steps have these commands, and the names step-1, step-2 and so on.
func commands(list ...string) *nodesv1.Pipeline {
	p := &nodesv1.Pipeline{}
	for i, command := range list {
		p.Steps = append(p.Steps, nodesv1.Step{Name: fmt.Sprint("step-", i+1), Template: nodesv1.ActivityTemplate{Command: command}})
	}
	return p
}

func joins(list ...string) option {
	return func(p *nodesv1.NodePool) { p.Spec.OnJoin = commands(list...) }
}

func leaves(list ...string) option {
	return func(p *nodesv1.NodePool) { p.Spec.OnLeave = commands(list...) }
}

func within(seconds int64) option {
	return func(p *nodesv1.NodePool) {
		for _, pipeline := range []*nodesv1.Pipeline{p.Spec.OnJoin, p.Spec.OnLeave} {
			if pipeline != nil {
				pipeline.TimeoutSeconds = &seconds
			}
		}
	}
}

func (s *site) create(options ...option) {
	s.Helper()
	s.must(env.Client.Create(s.Context(), s.pool(options...)))
	env.Clear(s.T, &nodesv1.NodePoolList{}, "")
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
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

func (s *site) delete(options ...client.DeleteOption) {
	s.Helper()
	s.must(env.Client.Delete(s.Context(), s.get(), options...))
}

func (s *site) gone() {
	s.Helper()
	operator.Until(s.T, "the NodePool is gone", func() error {
		p := &nodesv1.NodePool{}
		return eventually.Gone(env.Client.Get(s.Context(), client.ObjectKey{Name: s.name}, p), func(err error) bool { return client.IgnoreNotFound(err) == nil })
	})
}

// await waits until a condition of the NodePool has a status and reason, and its message contains the words.
func (s *site) await(kind, statusReason string, words ...string) *nodesv1.NodePool {
	s.Helper()
	var p *nodesv1.NodePool
	operator.Until(s.T, fmt.Sprintf("%s is %s %q", kind, statusReason, words), func() error {
		p = s.get()
		c := meta.FindStatusCondition(p.Status.Conditions, kind)
		if c == nil || p.Status.ObservedGeneration != p.Generation || string(c.Status)+" "+c.Reason != statusReason {
			return fmt.Errorf("it is %+v, the status %+v", c, p.Status.PipelineStatus)
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

// nodes creates nodes, whose names begin with the name of the test's pool.
func (s *site) nodes(n int, labels map[string]string) []string {
	s.Helper()
	return env.Nodes(s.T, n, testenv.NodeSpec{Prefix: s.name, Labels: labels, Mutate: func(node *corev1.Node) {
		node.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "runc"}}
	}})
}

func (s *site) node(name string) *corev1.Node {
	s.Helper()
	n := &corev1.Node{}
	s.must(env.Client.Get(s.Context(), client.ObjectKey{Name: name}, n))
	return n
}

func (s *site) role() string { return nodesv1.RolePrefix + s.name }

func (s *site) label(name string, value *string) {
	s.Helper()
	text := "null"
	if value != nil {
		text = fmt.Sprintf("%q", *value)
	}
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, s.role(), text)
	s.must(env.Client.Patch(s.Context(), s.node(name), client.RawPatch(types.MergePatchType, []byte(patch))))
}

func joining(n *corev1.Node) bool {
	for _, t := range n.Spec.Taints {
		if t.Key == nodesv1.JoiningTaint {
			return true
		}
	}
	return false
}

// joined waits until a node has joined: it has the settings of the pool, and not the taint of nodes that join.
func (s *site) joined(name string) {
	s.Helper()
	operator.Until(s.T, name+" has joined", func() error {
		n := s.node(name)
		if n.Labels["tier"] != s.name || joining(n) || !strings.Contains(n.Annotations[ledger], `"Joined"`) {
			return fmt.Errorf("it has %v %v %s", n.Labels, n.Spec.Taints, n.Annotations[ledger])
		}
		return nil
	})
}

// left waits until nothing of the pool is on a node.
func (s *site) left(name string) {
	s.Helper()
	operator.Until(s.T, name+" has left", func() error {
		n := s.node(name)
		if n.Labels["tier"] != "" || joining(n) || n.Annotations[ledger] != "" {
			return fmt.Errorf("it has %v %v %s", n.Labels, n.Spec.Taints, n.Annotations[ledger])
		}
		return nil
	})
}

// steps returns the Activities of the pool by the names of their steps, as "join step-1 1: Succeeded".
func (s *site) steps() map[string]egov1.Activity {
	s.Helper()
	list := &egov1.ActivityList{}
	s.must(env.Client.List(s.Context(), list, client.InNamespace(activities), client.MatchingLabels{"opcrew.io/nodepool": s.name}))
	out := map[string]egov1.Activity{}
	for _, a := range list.Items {
		l := a.Labels
		out[fmt.Sprintf("%s %s %s %s: %s", a.Spec.Host, l["opcrew.io/pipeline"], l["opcrew.io/pipeline-step"], l["opcrew.io/pipeline-attempt"], a.Status.Prosta)] = a
	}
	return out
}

// awaitSteps waits until exactly these Activities exist.
func (s *site) awaitSteps(want ...string) map[string]egov1.Activity {
	s.Helper()
	var got map[string]egov1.Activity
	operator.Until(s.T, fmt.Sprintf("the Activities are %q", want), func() error {
		got = s.steps()
		for _, step := range want {
			if _, there := got[step]; !there {
				return fmt.Errorf("there are %q", keys(got))
			}
		}
		if len(got) != len(want) {
			return fmt.Errorf("there are %q", keys(got))
		}
		return nil
	})
	return got
}

func keys(m map[string]egov1.Activity) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	return out
}
