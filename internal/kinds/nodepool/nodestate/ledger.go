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
)

// LedgerAnnotation on a Node records what pools set there. It is needed to remove these settings later, and to
// distinguish them from those of other owners, even if the pools are gone or this process has restarted.
const LedgerAnnotation = "opcrew.io/nodepools"

// maxLedger is the most that all annotations of an object can have together.
const maxLedger = 256 << 10

// Item names one thing that a pool sets on a node. The key of a taint is key:effect.
type Item struct {
	Kind nodesv1.ConflictKind
	Key  string
}

func labelItem(key string) Item      { return Item{nodesv1.ConflictLabel, key} }
func annotationItem(key string) Item { return Item{nodesv1.ConflictAnnotation, key} }
func taintItem(key string, effect corev1.TaintEffect) Item {
	return Item{nodesv1.ConflictTaint, key + ":" + string(effect)}
}

// Taint returns the taint that the item identifies, with a value.
func (i Item) Taint(value string) corev1.Taint {
	key, effect, _ := strings.Cut(i.Key, ":")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

// Compare orders items by kind, then by key.
func (i Item) Compare(other Item) int {
	if order := strings.Compare(string(i.Kind), string(other.Kind)); order != 0 {
		return order
	}
	return strings.Compare(i.Key, other.Key)
}

// entry is the value of an item and the pools that hold it on a node.
type entry struct {
	Value string   `json:"value"`
	Pools []string `json:"pools"`
}

// Ledger records what pools have set on one node, and the pools that the node belongs to.
type Ledger struct {
	Pools []string
	Items map[Item]entry
	// taintsWritten is true if the annotation was lost and the operator was the last to write the list of taints.
	taintsWritten bool
}

// ledgerJSON is the form of a ledger in the annotation. Maps are encoded in order of their keys, so that equal ledgers
// have equal text.
type ledgerJSON struct {
	Pools       []string         `json:"pools,omitempty"`
	Labels      map[string]entry `json:"labels,omitempty"`
	Annotations map[string]entry `json:"annotations,omitempty"`
	Taints      map[string]entry `json:"taints,omitempty"`
}

func (l Ledger) holds(i Item) bool {
	_, ok := l.Items[i]
	return ok
}

// Mentions reports whether a pool holds anything on the node, or has the node as a member.
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

// recovered reports whether the ledger has items whose pool is not known.
func (l Ledger) recovered() bool {
	for _, e := range l.Items {
		if len(e.Pools) == 0 {
			return true
		}
	}
	return false
}

// AllPools returns the names of all pools that the ledger mentions.
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

// String encodes the ledger for the annotation; an empty ledger is an empty string.
func (l Ledger) String() string {
	if len(l.Pools) == 0 && len(l.Items) == 0 {
		return ""
	}
	out := ledgerJSON{Pools: l.Pools, Labels: map[string]entry{}, Annotations: map[string]entry{}, Taints: map[string]entry{}}
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

// LedgerOf reads the ledger of a node. If another client was the last to write the annotation, the ledger is recovered
// from managedFields. A kubelet may write annotations of its node, but must not make the operator remove what the
// kubelet may not remove.
func LedgerOf(node *corev1.Node) Ledger {
	raw, ok := node.Annotations[LedgerAnnotation]
	if !ok || len(raw) > maxLedger || !wroteLedger(node) {
		return recoverLedger(node)
	}
	in := ledgerJSON{}
	if err := json.Unmarshal([]byte(raw), &in); err != nil {
		return recoverLedger(node)
	}
	l := Ledger{Pools: in.Pools, Items: map[Item]entry{}}
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

// valueOn returns the value of an item on a node.
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
