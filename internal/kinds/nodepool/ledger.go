// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// ledgerAnnotation on a Node remembers what pools put there, so that it can be taken
// off again, and told from what someone else put there, whatever became of the pools
// and of this process in the meantime.
const ledgerAnnotation = "opcrew.io/nodepools"

// item names one thing that a pool puts on a node. The key of a taint is key:effect.
type item struct {
	kind nodesv1.ConflictKind
	key  string
}

func labelItem(key string) item      { return item{nodesv1.ConflictLabel, key} }
func annotationItem(key string) item { return item{nodesv1.ConflictAnnotation, key} }
func taintItem(key string, effect corev1.TaintEffect) item {
	return item{nodesv1.ConflictTaint, key + ":" + string(effect)}
}

// taint gives the taint that an item of that kind stands for.
func (i item) taint(value string) corev1.Taint {
	key, effect, _ := strings.Cut(i.key, ":")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

func (i item) compare(other item) int {
	if order := strings.Compare(string(i.kind), string(other.kind)); order != 0 {
		return order
	}
	return strings.Compare(i.key, other.key)
}

// entry is one thing that pools hold on a node.
type entry struct {
	Value string   `json:"value"`
	Pools []string `json:"pools"`
}

// ledger is what pools hold on one node, and the pools that it belongs to.
type ledger struct {
	pools []string
	items map[item]entry
	// taintsWritten: the annotation was lost, and we wrote the list of taints last.
	taintsWritten bool
}

// ledgerJSON is the form of a ledger in the annotation. Maps are encoded in the order
// of their keys, so that equal ledgers are equal texts.
type ledgerJSON struct {
	Pools       []string         `json:"pools,omitempty"`
	Labels      map[string]entry `json:"labels,omitempty"`
	Annotations map[string]entry `json:"annotations,omitempty"`
	Taints      map[string]entry `json:"taints,omitempty"`
}

func (l ledger) holds(i item) bool {
	_, ok := l.items[i]
	return ok
}

// mentions reports whether a pool holds anything on the node or counts it as its own.
func (l ledger) mentions(pool string) bool {
	if slices.Contains(l.pools, pool) {
		return true
	}
	for _, e := range l.items {
		if slices.Contains(e.Pools, pool) {
			return true
		}
	}
	return false
}

// recovered reports whether the ledger holds things of which it does not know the pool.
func (l ledger) recovered() bool {
	for _, e := range l.items {
		if len(e.Pools) == 0 {
			return true
		}
	}
	return false
}

// allPools lists every pool that the ledger mentions.
func (l ledger) allPools() []string {
	names := map[string]bool{}
	for _, pool := range l.pools {
		names[pool] = true
	}
	for _, e := range l.items {
		for _, pool := range e.Pools {
			names[pool] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// String encodes the ledger for the annotation; an empty ledger is an empty string.
func (l ledger) String() string {
	if len(l.pools) == 0 && len(l.items) == 0 {
		return ""
	}
	out := ledgerJSON{Pools: l.pools, Labels: map[string]entry{}, Annotations: map[string]entry{}, Taints: map[string]entry{}}
	for i, e := range l.items {
		out.of(i.kind)[i.key] = e
	}
	raw, err := json.Marshal(out)
	if err != nil { // strings in maps always encode
		panic(err)
	}
	return string(raw)
}

func (j *ledgerJSON) of(kind nodesv1.ConflictKind) map[string]entry {
	switch kind {
	case nodesv1.ConflictLabel:
		return j.Labels
	case nodesv1.ConflictAnnotation:
		return j.Annotations
	}
	return j.Taints
}

// ledgerOf reads a node's ledger. Where someone removed, broke or rewrote the annotation
// it is recovered, as far as possible, from the API server's own record of who wrote
// what: a kubelet may write annotations of its node, and must not get the operator to
// take off what the kubelet itself may not.
func ledgerOf(node *corev1.Node) ledger {
	raw, ok := node.Annotations[ledgerAnnotation]
	if !ok || !wroteLedger(node) {
		return recoverLedger(node)
	}
	in := ledgerJSON{}
	if err := json.Unmarshal([]byte(raw), &in); err != nil {
		return recoverLedger(node)
	}
	l := ledger{pools: in.Pools, items: map[item]entry{}}
	for key, e := range in.Labels {
		l.items[labelItem(key)] = e
	}
	for key, e := range in.Annotations {
		l.items[annotationItem(key)] = e
	}
	for key, e := range in.Taints {
		l.items[item{nodesv1.ConflictTaint, key}] = e
	}
	return l
}

// recoverLedger finds what is ours by the fields that our field manager owns. Taints
// are one list with one owner, so they cannot be distinguished here: see reclaimTaints.
func recoverLedger(node *corev1.Node) ledger {
	l := ledger{items: map[item]entry{}}
	owned := ownedFields(node)
	if owned == nil {
		return l
	}
	for key, value := range node.Labels {
		if owned.Has(fieldpath.MakePathOrDie("metadata", "labels", key)) {
			l.items[labelItem(key)] = entry{Value: value}
		}
	}
	for key, value := range node.Annotations {
		if key != ledgerAnnotation && owned.Has(fieldpath.MakePathOrDie("metadata", "annotations", key)) {
			l.items[annotationItem(key)] = entry{Value: value}
		}
	}
	// Where nothing else of ours is left, the ledger was not lost but went with the last pool.
	l.taintsWritten = len(l.items) > 0 && owned.Has(fieldpath.MakePathOrDie("spec", "taints"))
	return l
}

// reclaimTaints adds to a recovered ledger the taints that a pool of the node wants just
// as they are. Others in the list that we wrote may be anybody's, such as an
// autoscaler's, and stay.
func (l ledger) reclaimTaints(node *corev1.Node, pools []*nodesv1.NodePool) {
	if !l.taintsWritten {
		return
	}
	for _, pool := range pools {
		if !belongs(pool, node, l) {
			continue
		}
		for _, t := range pool.Spec.Taints {
			i := taintItem(t.Key, t.Effect)
			if found, ok := valueOn(node, i); ok && found == t.Value {
				l.items[i] = entry{Value: found}
			}
		}
	}
}

// ownedFields are those that the operator wrote last, as the API server recorded it. Who
// may not change a field cannot become its owner by an update either.
func ownedFields(node *corev1.Node) *fieldpath.Set {
	for _, e := range node.ManagedFields {
		if !ownEntry(e) {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(e.FieldsV1.GetRawReader()); err == nil {
			return set
		}
	}
	return nil
}

// wroteLedger reports whether the operator wrote the ledger last. It is asked for every
// node at every look, so it does not decode the record.
func wroteLedger(node *corev1.Node) bool {
	for _, e := range node.ManagedFields {
		if ownEntry(e) && bytes.Contains(e.FieldsV1.GetRawBytes(), []byte(`"f:`+ledgerAnnotation+`"`)) {
			return true
		}
	}
	return false
}

func ownEntry(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == common.Name && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == "" && e.FieldsV1 != nil
}
