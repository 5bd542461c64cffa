// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// View is what was read about a template and the machines.
type View struct {
	// At is when the machines were read.
	At time.Time
	// Problem is why nothing can be verified; nil if there is no problem.
	Problem *Problem
	// groups are the security groups that the template shows for all machines made from it.
	groups []string
	// byProvider and byNode find the records. nil is the value of a provider ID or node that several records name.
	byProvider, byNode map[string]*Record
}

// Problem is why machines cannot be verified. Blocks is set if a user must correct the NodePool.
type Problem struct {
	Reason, Message string
	Blocks          bool
}

// NewView returns the view with the given records. groups are the groups of the template, see ClassGroups.
func NewView(at time.Time, groups []string, records []Record) *View {
	v := &View{At: at, groups: groups, byProvider: map[string]*Record{}, byNode: map[string]*Record{}}
	for i := range records {
		add(v.byProvider, records[i].ProviderID, &records[i])
		add(v.byNode, records[i].NodeName, &records[i])
	}
	return v
}

func add(index map[string]*Record, key string, r *Record) {
	if key == "" {
		return
	}
	if _, taken := index[key]; taken {
		r = nil
	}
	index[key] = r
}

// find returns the record of a node: by its provider ID, or else by its name. It is nil with found if several records
// name the node.
func (v *View) find(node *corev1.Node) (record *Record, found bool) {
	if record, found = v.byProvider[node.Spec.ProviderID]; found {
		return record, true
	}
	record, found = v.byNode[node.Name]
	if found && record != nil && record.ProviderID != "" && node.Spec.ProviderID != "" {
		return nil, false // the record of an earlier node of this name
	}
	return record, found
}

const (
	// Interval is the time between two readings of the objects of machines, which cause no events.
	Interval = 5 * time.Minute
	// Retry is this time while something cannot be verified yet.
	Retry = time.Minute
	// slack is how much older than a reading a node must be to be missed in it. The clocks of the API server and of the
	// operator may differ.
	slack = time.Minute
)

// Wait returns after how much time a view should be read again.
func Wait(nodes []*corev1.Node, v *View) time.Duration {
	if v.Problem != nil {
		return Retry
	}
	for _, n := range nodes {
		if _, found := v.find(n); !found && v.tooYoung(n) {
			return Retry
		}
	}
	return Interval
}

// tooYoung reports whether a node may have been created after the machines were read.
func (v *View) tooYoung(node *corev1.Node) bool {
	return node.CreationTimestamp.After(v.At.Add(-slack))
}
