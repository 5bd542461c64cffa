// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Readings remembers what Nodes say, by name. Every event of a node leads to a decision about all nodes, and to read
// their annotations again would take most of its time. The zero Readings is empty and ready to use.
type Readings struct{ memory kit.Memory[string, *reading] }

// reading is what one version of a Node says by itself, without what depends on pools and on other nodes.
type reading struct {
	uid     types.UID
	version string
	node    rollout.Node
	report  machineorder.Report
}

// Forget deletes the reading of a node that is gone.
func (r *Readings) Forget(node string) { r.memory.Forget(node) }

// of returns the reading of a node. It reads a node without a version, such as one that was not read from the API
// server, each time.
func (r *Readings) of(n *corev1.Node) *reading {
	if r == nil || n.ResourceVersion == "" {
		return read(n)
	}
	if known := r.memory.Get(n.Name); known != nil && known.version == n.ResourceVersion && known.uid == n.UID {
		return known
	}
	now := read(n)
	r.memory.Set(n.Name, now)
	return now
}

func read(n *corev1.Node) *reading {
	ready, report := condition(n, corev1.NodeReady), nodepatch.Report(n)
	current, desired := configName(n.Annotations[machineorder.CurrentConfig]), configName(n.Annotations[machineorder.DesiredConfig])
	return &reading{uid: n.UID, version: n.ResourceVersion, report: report, node: rollout.Node{
		Name:         n.Name,
		Zone:         n.Labels[corev1.LabelTopologyZone],
		Current:      current,
		Desired:      desired,
		Phase:        phase(n, report),
		Cordon:       cordon(n),
		Activity:     activity(n),
		Ready:        ready.Status == corev1.ConditionTrue,
		ReadySince:   ready.LastTransitionTime.Time,
		Ordered:      nodepatch.Ordered(n, desired),
		Reverted:     report.Phase == machineorder.PhaseReverted && report.Config == desired,
		Joining:      nodepatch.Has(n, nodepatch.Startup) && (current == "" || current == machineorder.None),
		ControlPlane: IsControlPlane(n),
	}}
}

// Report returns what the machine agent of a node reported last. It must not be changed.
func (f *Fleet) Report(n *corev1.Node) machineorder.Report { return f.Readings.of(n).report }
