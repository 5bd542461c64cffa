// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kit"
)

// maxPatients is the maximum number of nodes of a pool that are remediated at the same time. Each needs a record in the
// status.
const maxPatients = 16

// Facts holds what is read about nodes that are not Ready. Except for Outlook it is empty while all nodes are.
type Facts struct {
	Patients []*corev1.Node
	Runs     map[string]*egov1.Activity
	Cluster  Cluster
	Obstacle *Obstacle
	// Outlook is what the remediation lacks, also while all nodes are Ready.
	Outlook Outlook
}

// Decision holds what becomes of the nodes that are not Ready.
type Decision struct {
	inputs   []*Input
	verdicts []*Verdict
	// hindrances say why no machine of the pool can be fenced; empty if nothing is wrong.
	hindrances string
	// recheck is when to look for missing Secrets again; 0 if none is missing.
	recheck time.Duration
	left    int // nodes that are not Ready and have no record, because too many have one
}

// DecideAll decides about each node of a pool that is not Ready. Nodes with a record come first, and then those that are
// down for the longest time.
func DecideAll(pool *nodesv1.NodePool, members []*corev1.Node, f Facts, now time.Time) Decision {
	d := Decision{}
	if pool.Spec.Remediation != nil && pool.DeletionTimestamp == nil {
		d.hindrances = f.Outlook.hindrances(pool.Spec.Remediation, len(members))
	}
	if len(f.Outlook.Missing) > 0 {
		d.recheck = secretRetry
	}
	patients := slices.SortedFunc(slices.Values(f.Patients), func(a, b *corev1.Node) int { return comparePatients(pool, a, b) })
	for i, node := range patients {
		if i >= maxPatients {
			d.left = len(patients) - i
			break
		}
		in := &Input{
			Now: now, Node: node, Cluster: f.Cluster, Runs: f.Runs, Obstacle: f.Obstacle,
			Record: RecordOf(node, pool.Status.Remediation),
			Pool: Pool{
				Name: pool.Name, UID: pool.UID, Spec: pool.Spec.Remediation, Requester: pipeline.Requester(pool),
				Frozen: nodestate.Frozen(pool), Members: members,
			},
		}
		d.inputs, d.verdicts = append(d.inputs, in), append(d.verdicts, Decide(in))
	}
	return d
}

func comparePatients(pool *nodesv1.NodePool, a, b *corev1.Node) int {
	rank := func(n *corev1.Node) int {
		if RecordOf(n, pool.Status.Remediation) != nil || Fenced(n) {
			return 0
		}
		return 1
	}
	_, sinceA := Ready(a)
	_, sinceB := Ready(b)
	return cmp.Or(rank(a)-rank(b), sinceA.Compare(sinceB), cmp.Compare(a.Name, b.Name))
}

// Plan adds the Activities that start.
func (d Decision) Plan(plan *kit.Plan) {
	plan.LookAgain(d.recheck)
	for i, v := range d.verdicts {
		plan.LookAgain(v.Again)
		for _, run := range v.Create {
			plan.Children = append(plan.Children, Child(d.inputs[i], run))
		}
	}
}

// Creates reports whether an Activity should be created.
func (d Decision) Creates() bool {
	return slices.ContainsFunc(d.verdicts, func(v *Verdict) bool { return len(v.Create) > 0 })
}

// DropAll deletes all Activities of the remediations of a deleted NodePool.
func (f Facts) DropAll(plan *kit.Plan) {
	isList := func(l client.ObjectList) bool { _, ok := l.(*egov1.ActivityList); return ok }
	if len(f.Runs) > 0 && !slices.ContainsFunc(plan.Prune, isList) {
		plan.Prune = append(plan.Prune, &egov1.ActivityList{})
	}
}

// OrRuns extends a function that reports which Activities stay by those of remediations, which end by themselves.
func OrRuns(stays func(client.Object) bool) func(client.Object) bool {
	return func(object client.Object) bool { return object.GetLabels()[RunLabel] != "" || stays(object) }
}
