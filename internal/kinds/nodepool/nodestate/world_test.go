// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

// world simulates a cluster with one node and all NodePools. Its methods act as users do, and settle acts as opcrew
// does.
type world struct {
	t     testing.TB
	node  *corev1.Node
	pools map[string]*nodesv1.NodePool
	// looked, if set, is called before each patch. It returns true if a write of another client may make a second patch
	// necessary.
	looked func() bool
}

func newWorld(t testing.TB, node *corev1.Node, pools ...*nodesv1.NodePool) *world {
	w := &world{t: t, node: node.DeepCopy(), pools: map[string]*nodesv1.NodePool{}}
	w.have(pools...)
	return w
}

// have creates pools or replaces them.
func (w *world) have(pools ...*nodesv1.NodePool) {
	for _, p := range pools {
		w.pools[p.Name] = p
	}
}

// drop deletes pools: it marks them as deleted, lets opcrew clean up the node, and removes them.
func (w *world) drop(names ...string) {
	for _, name := range names {
		p := w.pools[name].DeepCopy()
		pooltest.BeingDeleted(p)
		w.pools[name] = p
	}
	w.settle()
	for _, name := range names {
		delete(w.pools, name)
	}
}

// change changes the node as another client, which then owns the fields that it wrote.
func (w *world) change(options ...pooltest.NodeOption) {
	before := w.node.DeepCopy()
	for _, option := range options {
		option(w.node)
	}
	w.owned(func(owned *fieldpath.Set) *fieldpath.Set { return owned.Difference(pooltest.Written(before, w.node)) })
}

// owned updates managedFields, in which the API server records the fields that opcrew was the last to write.
func (w *world) owned(change func(*fieldpath.Set) *fieldpath.Set) {
	owned := change(cmp.Or(ownedFields(w.node), fieldpath.NewSet())).Intersection(pooltest.Written(&corev1.Node{}, w.node))
	raw, err := owned.ToJSON()
	if err != nil {
		w.t.Fatal(err)
	}
	w.node.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: common.Name, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(string(raw)),
	}}
}

func (w *world) list() []*nodesv1.NodePool { return slices.Collect(maps.Values(w.pools)) }

func (w *world) desired() Desired { return Desire(w.node, w.list()) }

// settle applies opcrew's patch to the node, as the API server would, and checks that one patch is enough.
func (w *world) settle() {
	w.t.Helper()
	for again := true; again; {
		again = w.looked != nil && w.looked()
		patch, needed := Patch(w.node, w.desired())
		if !needed {
			return
		}
		w.node = pooltest.Applied(w.t, w.node, patch.Data)
		w.owned(func(owned *fieldpath.Set) *fieldpath.Set { return owned.Union(patch.Fields) })
		if more, needed := Patch(w.node, w.desired()); needed && !again {
			w.t.Fatalf("expected one patch to be enough, after\n%s\nalso\n%s", patch.Data, more.Data)
		}
	}
}

// bare returns the node without the ledger annotation and managedFields of opcrew.
func bare(node *corev1.Node) *corev1.Node {
	out := node.DeepCopy()
	out.ManagedFields = nil
	delete(out.Annotations, LedgerAnnotation)
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

// linesOf formats conflicts as text lines.
func linesOf(conflicts []conflict) []string {
	var out []string
	for _, c := range conflicts {
		owner := "another owner"
		if c.Owner != "" {
			owner = c.Owner
		}
		out = append(out, fmt.Sprintf("%s wants %s=%s, %s has %s", c.Pool, c.Item.Key, c.Wanted, owner, c.Found))
	}
	return out
}

// settledNode returns a node after opcrew has reconciled it until nothing changes any more.
func settledNode(t testing.TB, node *corev1.Node, pools ...*nodesv1.NodePool) *corev1.Node {
	t.Helper()
	w := newWorld(t, node, pools...)
	w.settle()
	return w.node
}
