// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// LedgerAnnotation is an annotation of Nodes that records what pools have set on the node. opcrew uses this ledger to
// remove settings later, and to distinguish them from settings of other owners, even after a restart or if the
// NodePools no longer exist.
const LedgerAnnotation = claims.PoolRecord

// maxLedger is the maximum total size of all annotations of an object.
const maxLedger = 256 << 10

// Item identifies a label, annotation or taint that a NodePool sets on a node. For a taint, Key has the form
// key:effect.
type Item struct {
	Kind nodesv1.ConflictKind
	Key  string
}

func labelItem(key string) Item      { return Item{nodesv1.ConflictLabel, key} }
func annotationItem(key string) Item { return Item{nodesv1.ConflictAnnotation, key} }
func taintItem(key string, effect corev1.TaintEffect) Item {
	return Item{nodesv1.ConflictTaint, key + ":" + string(effect)}
}

// Taint returns the taint that an item identifies, with the given value.
func (i Item) Taint(value string) corev1.Taint {
	key, effect, _ := strings.Cut(i.Key, ":")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

// Compare orders labels, annotations and taints by kind, then by key.
func (i Item) Compare(other Item) int {
	if order := strings.Compare(string(i.Kind), string(other.Kind)); order != 0 {
		return order
	}
	return strings.Compare(i.Key, other.Key)
}

// entry is the value of an item (a label, annotation or taint) on a node, and the NodePools that set it.
type entry struct {
	Value string   `json:"value"`
	Pools []string `json:"pools"`
}

// Ledger records what pools have set on a node, and the NodePools to which the node belongs.
type Ledger struct {
	Pools []string
	Items map[Item]entry
	Marks Marks
	// taintsWritten is true if the ledger annotation was lost and opcrew was the last client to write the list of
	// taints.
	taintsWritten bool
}

// ledgerJSON is the JSON form of a ledger in the annotation. Map keys are encoded in sorted order, so that equal
// ledgers have equal texts.
type ledgerJSON struct {
	Pools       []string         `json:"pools,omitempty"`
	Labels      map[string]entry `json:"labels,omitempty"`
	Annotations map[string]entry `json:"annotations,omitempty"`
	Taints      map[string]entry `json:"taints,omitempty"`
	Pipelines   Marks            `json:"pipelines,omitempty"`
}

func (l Ledger) holds(i Item) bool {
	_, ok := l.Items[i]
	return ok
}

// Mentions reports whether the ledger annotation names a NodePool: the node is a member of the pool, or the pool set
// something on the node.
func (l Ledger) Mentions(pool string) bool {
	if slices.Contains(l.Pools, pool) {
		return true
	}
	for _, e := range l.Items {
		if slices.Contains(e.Pools, pool) {
			return true
		}
	}
	return false
}

// recovered reports whether the ledger has labels, annotations or taints whose pool is unknown, because the ledger was
// recovered from managedFields.
func (l Ledger) recovered() bool {
	for _, e := range l.Items {
		if len(e.Pools) == 0 {
			return true
		}
	}
	return false
}

// AllPools returns the names of all NodePools in the ledger annotation.
func (l Ledger) AllPools() []string {
	names := map[string]bool{}
	for _, pool := range l.Pools {
		names[pool] = true
	}
	for _, e := range l.Items {
		for _, pool := range e.Pools {
			names[pool] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// String encodes the ledger for the annotation. An empty ledger becomes an empty string.
func (l Ledger) String() string {
	if len(l.Pools) == 0 && len(l.Items) == 0 {
		return ""
	}
	out := ledgerJSON{Pools: l.Pools, Pipelines: l.Marks, Labels: map[string]entry{}, Annotations: map[string]entry{}, Taints: map[string]entry{}}
	for i, e := range l.Items {
		out.of(i.Kind)[i.Key] = e
	}
	raw, err := json.Marshal(out)
	if err != nil { // cannot happen with maps of strings
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

// LedgerOf reads the ledger of a node. If another client was the last to write the annotation, LedgerOf recovers the
// ledger from managedFields instead: a kubelet may write annotations of its node, but must not use this to make opcrew
// remove settings.
func LedgerOf(node *corev1.Node) Ledger {
	raw, ok := node.Annotations[LedgerAnnotation]
	if !ok || len(raw) > maxLedger || !wroteLedger(node) {
		return recoverLedger(node)
	}
	in := ledgerJSON{}
	if err := json.Unmarshal([]byte(raw), &in); err != nil {
		return recoverLedger(node)
	}
	l := Ledger{Pools: in.Pools, Items: map[Item]entry{}, Marks: in.Pipelines}
	for key, e := range in.Labels {
		l.Items[labelItem(key)] = e
	}
	for key, e := range in.Annotations {
		l.Items[annotationItem(key)] = e
	}
	for key, e := range in.Taints {
		l.Items[Item{nodesv1.ConflictTaint, key}] = e
	}
	return l
}

// valueOn returns the value of an item on a node, and whether the node has the item.
func valueOn(node *corev1.Node, i Item) (string, bool) {
	switch i.Kind {
	case nodesv1.ConflictLabel:
		value, ok := node.Labels[i.Key]
		return value, ok
	case nodesv1.ConflictAnnotation:
		value, ok := node.Annotations[i.Key]
		return value, ok
	}
	wanted := i.Taint("")
	for _, t := range node.Spec.Taints {
		if t.Key == wanted.Key && t.Effect == wanted.Effect {
			return t.Value, true
		}
	}
	return "", false
}
