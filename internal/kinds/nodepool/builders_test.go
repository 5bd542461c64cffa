// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4" // the one that the API server applies patches with
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

var someTime = metav1.NewTime(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))

const (
	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
)

// Pools. Without the option created, all are equally old.

type poolOption func(*nodesv1.NodePool)

func newPool(name string, options ...poolOption) *nodesv1.NodePool {
	p := &nodesv1.NodePool{}
	p.Name, p.UID, p.Generation, p.CreationTimestamp = name, types.UID("uid-of-"+name), 1, someTime
	p.Spec.Handler = nodesv1.DefaultHandler
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
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]nodesv1.LabelValue{}
		}
		p.Spec.NodeSelector[key] = nodesv1.LabelValue(value)
	}
}

// created makes a pool that many minutes younger than the oldest.
func created(minutes int) poolOption {
	return func(p *nodesv1.NodePool) {
		p.CreationTimestamp = metav1.NewTime(someTime.Add(time.Duration(minutes) * time.Minute))
	}
}

func poolAnnotation(key, value string) poolOption {
	return func(p *nodesv1.NodePool) { p.Annotations = map[string]string{key: value} }
}

func isPaused() poolOption { return poolAnnotation(common.PausedAnnotation, "true") }
func inDryRun() poolOption { return poolAnnotation(common.DryRunAnnotation, "true") }

func beingDeleted(p *nodesv1.NodePool) {
	p.DeletionTimestamp, p.Finalizers = &someTime, []string{finalizer}
}

func allowsNoExecute(p *nodesv1.NodePool) { p.Spec.AllowNoExecuteOnControlPlane = true }

// Nodes.

type nodeOption func(*corev1.Node)

func newNode(name string, options ...nodeOption) *corev1.Node {
	n := &corev1.Node{}
	n.Name, n.UID = name, types.UID("uid-of-"+name)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, option := range options {
		option(n)
	}
	return n
}

func hasLabel(key, value string) nodeOption {
	return func(n *corev1.Node) {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[key] = value
	}
}

// role makes the node a member of a pool, as an administrator does.
func role(pool string) nodeOption { return hasLabel(nodesv1.RolePrefix+pool, "") }

func hasAnnotation(key, value string) nodeOption {
	return func(n *corev1.Node) {
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[key] = value
	}
}

// hasLedger gives the node a ledger as the operator wrote it.
func hasLedger(text string) nodeOption {
	return func(n *corev1.Node) {
		hasAnnotation(ledgerAnnotation, text)(n)
		writtenByUs(fieldpath.MakePathOrDie("metadata", "annotations", ledgerAnnotation))(n)
	}
}

func hasTaint(key, value string, effect corev1.TaintEffect) nodeOption {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func lacksLabel(key string) nodeOption { return func(n *corev1.Node) { delete(n.Labels, key) } }

func lacksRole(pool string) nodeOption { return lacksLabel(nodesv1.RolePrefix + pool) }

func isCordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func isNotReady(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }

func offersHandlers(names ...string) nodeOption {
	return func(n *corev1.Node) {
		for _, name := range names {
			n.Status.RuntimeHandlers = append(n.Status.RuntimeHandlers, corev1.NodeRuntimeHandler{Name: name})
		}
	}
}

func hasSize(cpu, memory string) nodeOption {
	return func(n *corev1.Node) {
		n.Status.Allocatable = corev1.ResourceList{"cpu": quantity(cpu), "memory": quantity(memory)}
	}
}

// writtenByUs makes the API server's record say that the operator wrote these fields last.
func writtenByUs(paths ...fieldpath.Path) nodeOption {
	return func(n *corev1.Node) {
		raw, err := fieldpath.NewSet(paths...).ToJSON()
		if err != nil {
			panic(err)
		}
		n.ManagedFields = append(n.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: common.Name, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(string(raw)),
		})
	}
}

// A world is one node and all pools. Its methods do what users do; settle does what
// the operator does.
type world struct {
	t     testing.TB
	node  *corev1.Node
	pools map[string]*nodesv1.NodePool
	// looked, if set, is called before each patch, and allows a second one.
	looked func() bool
}

func newWorld(t testing.TB, node *corev1.Node, pools ...*nodesv1.NodePool) *world {
	w := &world{t: t, node: node.DeepCopy(), pools: map[string]*nodesv1.NodePool{}}
	w.have(pools...)
	return w
}

// have creates or edits pools.
func (w *world) have(pools ...*nodesv1.NodePool) {
	for _, p := range pools {
		w.pools[p.Name] = p
	}
}

// drop removes pools as a user sees it: they go away, the node is cleaned, they are gone.
func (w *world) drop(names ...string) {
	for _, name := range names {
		p := w.pools[name].DeepCopy()
		beingDeleted(p)
		w.pools[name] = p
	}
	w.settle()
	for _, name := range names {
		delete(w.pools, name)
	}
}

// change is someone else's hand on the node, who owns then what they wrote.
func (w *world) change(options ...nodeOption) {
	before := w.node.DeepCopy()
	for _, option := range options {
		option(w.node)
	}
	w.owned(func(owned *fieldpath.Set) *fieldpath.Set { return owned.Difference(written(before, w.node)) })
}

// owned keeps the API server's record of what the operator wrote last.
func (w *world) owned(change func(*fieldpath.Set) *fieldpath.Set) {
	owned := change(cmp.Or(ownedFields(w.node), fieldpath.NewSet())).Intersection(written(&corev1.Node{}, w.node))
	raw, err := owned.ToJSON()
	if err != nil {
		w.t.Fatal(err)
	}
	w.node.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: common.Name, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(string(raw)),
	}}
}

// written lists what differs between two states of the node.
func written(before, after *corev1.Node) *fieldpath.Set {
	set := fieldpath.NewSet()
	for field, maps := range map[string][2]map[string]string{"labels": {before.Labels, after.Labels}, "annotations": {before.Annotations, after.Annotations}} {
		for key, value := range maps[1] {
			if old, ok := maps[0][key]; !ok || old != value {
				set.Insert(fieldpath.MakePathOrDie("metadata", field, key))
			}
		}
	}
	if !slices.Equal(before.Spec.Taints, after.Spec.Taints) && len(after.Spec.Taints) > 0 {
		set.Insert(fieldpath.MakePathOrDie("spec", "taints"))
	}
	return set
}

func (w *world) list() []*nodesv1.NodePool { return slices.Collect(maps.Values(w.pools)) }

func (w *world) desired() desired { return desire(w.node, w.list()) }

// settle applies the operator's patch to the node, as the API server would, and
// expects that one is enough.
func (w *world) settle() {
	w.t.Helper()
	for again := true; again; {
		again = w.looked != nil && w.looked()
		patch, needed := nodePatch(w.node, w.desired())
		if !needed {
			return
		}
		w.node = applied(w.t, w.node, patch.Data)
		w.owned(func(owned *fieldpath.Set) *fieldpath.Set { return owned.Union(patch.Fields) })
		if more, needed := nodePatch(w.node, w.desired()); needed && !again {
			w.t.Fatalf("expected one patch to be enough, after\n%s\nalso\n%s", patch.Data, more.Data)
		}
	}
}

func applied(t testing.TB, node *corev1.Node, patch []byte) *corev1.Node {
	t.Helper()
	out, err := tryPatch(node, patch)
	if err != nil {
		t.Fatalf("the API server refuses the patch %s: %v", patch, err)
	}
	owned := cmp.Or(ownedFields(node), fieldpath.NewSet()).Union(written(node, out)).Intersection(written(&corev1.Node{}, out))
	raw, err := owned.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	out.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: common.Name, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(string(raw)),
	}}
	return out
}

func tryPatch(node *corev1.Node, patch []byte) (*corev1.Node, error) {
	before, err := json.Marshal(node)
	if err != nil {
		return nil, err
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	after, err := decoded.Apply(before)
	if err != nil {
		return nil, err
	}
	out := &corev1.Node{}
	return out, json.Unmarshal(after, out)
}

// bare is the node without what the operator remembers on it.
func bare(node *corev1.Node) *corev1.Node {
	out := node.DeepCopy()
	out.ManagedFields = nil
	delete(out.Annotations, ledgerAnnotation)
	if len(out.Annotations) == 0 {
		out.Annotations = nil
	}
	if len(out.Labels) == 0 {
		out.Labels = nil
	}
	if len(out.Spec.Taints) == 0 {
		out.Spec.Taints = nil
	}
	return out
}

func taintsOf(node *corev1.Node) []string {
	var out []string
	for _, t := range node.Spec.Taints {
		out = append(out, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	return out
}

// tell gives conflicts as lines.
func tell(conflicts []conflict) []string {
	var out []string
	for _, c := range conflicts {
		owner := "somebody"
		if c.owner != "" {
			owner = c.owner
		}
		out = append(out, fmt.Sprintf("%s wants %s=%s, %s has %s", c.pool, c.item.key, c.wanted, owner, c.found))
	}
	return out
}

// factsOf are what is observed of a pool in a cluster of these pools and nodes, where
// every pool's RuntimeClass is in place.
func factsOf(pool *nodesv1.NodePool, pools []*nodesv1.NodePool, nodes ...*corev1.Node) facts {
	f := facts{pools: pools, nodes: membersOf(pool.Name, pools, nodesOf(nodes))}
	if dryRun(pool) {
		f.preview = membersOf(pool.Name, thaw(pool, pools), nodesOf(nodes))
	}
	return f
}

func nodesOf(nodes []*corev1.Node) []corev1.Node {
	out := make([]corev1.Node, len(nodes))
	for i, n := range nodes {
		out[i] = *n
	}
	return out
}

// settled is a node after the operator has looked at it.
func settled(t testing.TB, node *corev1.Node, pools ...*nodesv1.NodePool) *corev1.Node {
	t.Helper()
	w := newWorld(t, node, pools...)
	w.settle()
	return w.node
}

// articlePools reads pools of the article, which were made in the order of the file
// within one second.
func articlePools(t testing.TB, file string) []*nodesv1.NodePool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var pools []*nodesv1.NodePool
	for text := range strings.SplitSeq(string(raw), "\n---\n") {
		p := newPool("")
		if err := yaml.UnmarshalStrict([]byte(text), p); err != nil {
			t.Fatal(err)
		}
		p.UID = types.UID("uid-of-" + p.Name)
		pools = append(pools, p)
	}
	return pools
}

// same fails the test where two values differ, in the words given.
func same(t testing.TB, what string, want, got any, options ...gocmp.Option) {
	t.Helper()
	if diff := gocmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }
