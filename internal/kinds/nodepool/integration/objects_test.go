// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/operator"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	ledger     = "opcrew.io/nodepools"
	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
)

type labelMap = map[string]string

// Builders and helpers for NodePools.

type poolOption func(*nodesv1.NodePool)

func newPool(name string, options ...poolOption) *nodesv1.NodePool {
	p := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, option := range options {
		option(p)
	}
	return p
}

func wantsLabel(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		if p.Spec.Labels == nil {
			p.Spec.Labels = map[string]nodesv1.LabelValue{}
		}
		p.Spec.Labels[key] = nodesv1.LabelValue(value)
	}
}

func wantsAnnotation(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		if p.Spec.Annotations == nil {
			p.Spec.Annotations = map[string]nodesv1.AnnotationValue{}
		}
		p.Spec.Annotations[key] = nodesv1.AnnotationValue(value)
	}
}

func wantsTaint(key, value string, effect corev1.TaintEffect) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Taints = append(p.Spec.Taints, nodesv1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func selects(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.NodeSelector = map[string]nodesv1.LabelValue{key: nodesv1.LabelValue(value)}
	}
}

func withHandler(name string) poolOption { return func(p *nodesv1.NodePool) { p.Spec.Handler = name } }

func annotated(key, value string) poolOption {
	return func(p *nodesv1.NodePool) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
}

// createPool creates pools, which are deleted when the test ends.
func createPool(t *testing.T, pools ...*nodesv1.NodePool) {
	t.Helper()
	for _, p := range pools {
		if err := env.Client.Create(t.Context(), p); err != nil {
			t.Fatalf("creating NodePool %s: %v", p.Name, err)
		}
		removeLater(t, p.Name)
	}
}

// removeLater deletes a NodePool when the test ends, and checks that the deletion completes.
func removeLater(t *testing.T, name string) {
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		p := newPool(name)
		thaw := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":null}}`))
		if err := env.Client.Patch(ctx, p, thaw); apierrors.IsNotFound(err) {
			return
		}
		err := env.Client.Delete(ctx, p)
		for range 200 {
			if apierrors.IsNotFound(err) {
				return
			}
			time.Sleep(100 * time.Millisecond)
			err = env.Client.Get(ctx, client.ObjectKeyFromObject(p), p)
		}
		t.Errorf("NodePool %s does not go: %v %s", name, err, ready(p).Message)
		p.Finalizers = nil
		if err := env.Client.Update(ctx, p); err != nil {
			t.Error(err)
		}
	})
}

func editPool(t *testing.T, name string, options ...poolOption) {
	t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p := newPool(name)
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		for _, option := range options {
			option(p)
		}
		return env.Client.Update(t.Context(), p)
	})
	if err != nil {
		t.Fatalf("editing NodePool %s: %v", name, err)
	}
}

// respec replaces the whole spec of a NodePool.
func respec(options ...poolOption) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec = nodesv1.NodePoolSpec{}
		for _, option := range options {
			option(p)
		}
	}
}

func unannotated(key string) poolOption {
	return func(p *nodesv1.NodePool) { delete(p.Annotations, key) }
}

func getPool(t *testing.T, name string) *nodesv1.NodePool {
	t.Helper()
	p := newPool(name)
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatalf("reading NodePool %s: %v", name, err)
	}
	return p
}

func conditionOf(p *nodesv1.NodePool, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(p.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func ready(p *nodesv1.NodePool) metav1.Condition { return conditionOf(p, nodesv1.NodePoolReady) }

// awaitPool waits until a NodePool passes a check, and returns it. expectation describes the check.
func awaitPool(t *testing.T, name, expectation string, check func(*nodesv1.NodePool) error) *nodesv1.NodePool {
	t.Helper()
	var p *nodesv1.NodePool
	operator.Until(t, fmt.Sprintf("NodePool %s: %s", name, expectation), func() error {
		p = getPool(t, name)
		if p.Status.ObservedGeneration != p.Generation {
			return fmt.Errorf("the status is about generation %d, the spec is %d", p.Status.ObservedGeneration, p.Generation)
		}
		return check(p)
	})
	return p
}

// awaitReady waits until a NodePool is Ready with the given number of nodes.
func awaitReady(t *testing.T, name string, nodes int) *nodesv1.NodePool {
	t.Helper()
	return awaitPool(t, name, fmt.Sprintf("is Ready with %d nodes", nodes), func(p *nodesv1.NodePool) error {
		if c := ready(p); c.Status != metav1.ConditionTrue || int(p.Status.NodeCount) != nodes || p.Status.UpdatedNodes != p.Status.NodeCount {
			return fmt.Errorf("%d nodes, %d updated, Ready is %s: %s: %s", p.Status.NodeCount, p.Status.UpdatedNodes, c.Status, c.Reason, c.Message)
		}
		return nil
	})
}

// awaitCondition waits until a condition has the given status and reason, and its message contains the words.
func awaitCondition(t *testing.T, name, kind, statusReason string, words ...string) *nodesv1.NodePool {
	t.Helper()
	return awaitPool(t, name, fmt.Sprintf("%s is %s and says %q", kind, statusReason, words), func(p *nodesv1.NodePool) error {
		c := conditionOf(p, kind)
		if got := fmt.Sprintf("%s %s", c.Status, c.Reason); got != statusReason {
			return fmt.Errorf("it is %s: %s", got, c.Message)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				return fmt.Errorf("it says %q", c.Message)
			}
		}
		return nil
	})
}

func deletePool(t *testing.T, name string) {
	t.Helper()
	if err := env.Client.Delete(t.Context(), newPool(name)); err != nil {
		t.Fatalf("deleting NodePool %s: %v", name, err)
	}
}

func awaitPoolGone(t *testing.T, name string) {
	t.Helper()
	operator.Until(t, "NodePool "+name+" is gone", func() error {
		return eventually.Gone(env.Client.Get(t.Context(), client.ObjectKey{Name: name}, &nodesv1.NodePool{}), apierrors.IsNotFound)
	})
}

// Helpers of RuntimeClasses.

func getClass(t *testing.T, name string) *nodev1.RuntimeClass {
	t.Helper()
	c := &nodev1.RuntimeClass{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil {
		t.Fatalf("reading RuntimeClass %s: %v", name, err)
	}
	return c
}

func awaitClassGone(t *testing.T, name string) {
	t.Helper()
	operator.Until(t, "RuntimeClass "+name+" is gone", func() error {
		return eventually.Gone(env.Client.Get(t.Context(), client.ObjectKey{Name: name}, &nodev1.RuntimeClass{}), apierrors.IsNotFound)
	})
}

// Builders and helpers for nodes.

type nodeOption func(*corev1.Node)

func hasLabel(key, value string) nodeOption {
	return func(n *corev1.Node) {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[key] = value
	}
}

func role(pool string) nodeOption        { return hasLabel(nodesv1.RolePrefix+pool, "") }
func lacksLabel(key string) nodeOption   { return func(n *corev1.Node) { delete(n.Labels, key) } }
func lacksRole(pool string) nodeOption   { return lacksLabel(nodesv1.RolePrefix + pool) }
func lacksNote(key string) nodeOption    { return func(n *corev1.Node) { delete(n.Annotations, key) } }
func hasNote(k, value string) nodeOption { return func(n *corev1.Node) { n.Annotations[k] = value } }

func hasTaint(key, value string, effect corev1.TaintEffect) nodeOption {
	return func(n *corev1.Node) {
		lacksTaint(key)(n)
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func lacksTaint(key string) nodeOption {
	return func(n *corev1.Node) {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
	}
}

func isCordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

// makeNodes creates simulated nodes whose container runtime has the handlers runc and kata.
func makeNodes(t *testing.T, n int, prefix string, options ...nodeOption) []string {
	t.Helper()
	return env.Nodes(t, n, testenv.NodeSpec{Prefix: prefix, Mutate: func(node *corev1.Node) {
		node.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "runc"}, {Name: "kata"}}
		for _, option := range options {
			option(node)
		}
	}})
}

func getNode(t *testing.T, name string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name}, n); err != nil {
		t.Fatalf("reading node %s: %v", name, err)
	}
	return n
}

// changeNode changes a node as a user would.
func changeNode(t *testing.T, name string, options ...nodeOption) {
	t.Helper()
	if err := tryChangeNode(t.Context(), env.Client, name, "kubectl-edit", options...); err != nil {
		t.Fatalf("changing node %s: %v", name, err)
	}
}

func tryChangeNode(ctx context.Context, c client.Client, name, manager string, options ...nodeOption) error {
	n := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, n); err != nil {
		return err
	}
	before := n.DeepCopy()
	for _, option := range options {
		option(n)
	}
	return c.Patch(ctx, n, client.StrategicMergeFrom(before), client.FieldOwner(manager))
}

// changeNodes changes many nodes, a few of them concurrently.
func changeNodes(t *testing.T, names []string, options ...nodeOption) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for _, name := range names {
		group.Go(func() error { return tryChangeNode(ctx, env.Client, name, "kubectl-edit", options...) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("changing %d nodes: %v", len(names), err)
	}
}

// likeness holds the labels, annotations and taints of a node that pools can affect. It leaves out opcrew's ledger
// annotation and everything that Kubernetes sets.
type likeness struct {
	Labels, Annotations labelMap
	Taints              []string
	Unschedulable       bool
}

func likenessOf(n *corev1.Node) likeness {
	l := likeness{Labels: maps.Clone(n.Labels), Annotations: maps.Clone(n.Annotations), Unschedulable: n.Spec.Unschedulable}
	delete(l.Annotations, ledger)
	maps.DeleteFunc(l.Annotations, func(key, _ string) bool { return strings.HasPrefix(key, "node.alpha.kubernetes.io/") })
	maps.DeleteFunc(l.Labels, func(key, _ string) bool { return strings.HasPrefix(key, "beta.kubernetes.io/") })
	for _, t := range n.Spec.Taints {
		if strings.HasPrefix(t.Key, "node.kubernetes.io/") {
			continue
		}
		l.Taints = append(l.Taints, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	return l
}

func likenesses(t *testing.T, names []string) map[string]likeness {
	t.Helper()
	out := map[string]likeness{}
	for _, n := range listNodes(t) {
		if slices.Contains(names, n.Name) {
			out[n.Name] = likenessOf(&n)
		}
	}
	return out
}

func listNodes(t *testing.T) []corev1.Node {
	t.Helper()
	list := &corev1.NodeList{}
	if err := env.Client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// awaitLikeness waits until nodes have exactly the given labels, annotations and taints, and no ledger annotation or
// managed field of opcrew is left on them.
func awaitLikeness(t *testing.T, want map[string]likeness) {
	t.Helper()
	operator.Until(t, fmt.Sprintf("%d nodes are as they were before", len(want)), func() error {
		for _, n := range listNodes(t) {
			w, ok := want[n.Name]
			if !ok {
				continue
			}
			if diff := cmp.Diff(w, likenessOf(&n), cmpopts.EquateEmpty()); diff != "" {
				return fmt.Errorf("%s (-expected +found):\n%s", n.Name, diff)
			}
			if text, ok := n.Annotations[ledger]; ok {
				return fmt.Errorf("%s still has a ledger: %s", n.Name, text)
			}
		}
		return nil
	})
}

// awaitNode waits until a node has the given labels, annotations and taints. It may have more.
func awaitNode(t *testing.T, name string, want likeness) {
	t.Helper()
	operator.Until(t, fmt.Sprintf("node %s carries %+v", name, want), func() error {
		n := getNode(t, name)
		if n.Annotations[ledger] == "" {
			return fmt.Errorf("it has no ledger")
		}
		return carries(n, want)
	})
}

func carries(n *corev1.Node, want likeness) error {
	got := likenessOf(n)
	for key, value := range want.Labels {
		if found, ok := got.Labels[key]; !ok || found != value {
			return fmt.Errorf("label %s is %q (%t)", key, found, ok)
		}
	}
	for key, value := range want.Annotations {
		if found, ok := got.Annotations[key]; !ok || found != value {
			return fmt.Errorf("annotation %s is %q (%t)", key, found, ok)
		}
	}
	for _, taint := range want.Taints {
		if !slices.Contains(got.Taints, taint) {
			return fmt.Errorf("taints are %v", got.Taints)
		}
	}
	return nil
}

// eventsOf returns the reasons of the events about an object.
func eventsOf(t *testing.T, kind, name string) []string {
	t.Helper()
	list := &eventsv1.EventList{}
	if err := env.Client.List(t.Context(), list, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list.Items {
		if e.Regarding.Kind == kind && e.Regarding.Name == name {
			out = append(out, e.Reason+": "+e.Note)
		}
	}
	return out
}

func awaitEvent(t *testing.T, kind, name, words string) {
	t.Helper()
	operator.Until(t, fmt.Sprintf("an event of %s %s says %q", kind, name, words), func() error {
		got := eventsOf(t, kind, name)
		if !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, words) }) {
			return fmt.Errorf("there are %q", got)
		}
		return nil
	})
}
