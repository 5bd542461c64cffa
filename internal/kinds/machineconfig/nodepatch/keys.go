// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepatch

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	// CordonAnnotation has the time at which opcrew cordoned the node. A cordon without it belongs to a user or another
	// tool.
	CordonAnnotation = claims.MachineCordon
	// UpdatedAnnotation has the configuration that the node completed last, and the time at which the operator saw it.
	// The clock of the operator counts, because the clock of a host can be wrong.
	UpdatedAnnotation = "opcrew.io/machine-updated"
	// OrderedAnnotation has the configuration of the last order, and its time. An agent that does not begin is reported.
	OrderedAnnotation = "opcrew.io/machine-ordered"
	// AgentAnnotation records from which image the machine agent was installed, on which machine, and with which CA of
	// the API server: another machine may take the name of a node.
	AgentAnnotation = "opcrew.io/machine-agent"
	// StartupTaint keeps pods away from a new node until its first configuration is complete.
	StartupTaint = "opcrew.io/machine-not-configured"
)

// Removing is the value of AgentAnnotation while the machine agent is removed.
const Removing = "removing"

// Agent returns the value of AgentAnnotation for an agent that was installed from an image, and has the CA with this
// fingerprint.
func Agent(node *corev1.Node, image, ca string) string {
	return strings.Join(strings.Fields(image+" "+node.Status.NodeInfo.MachineID+" "+ca), " ")
}

// Protocol returns the annotations that operator and machine agent exchange. They mean nothing on a node without agent.
func Protocol() []string {
	return []string{
		machineorder.CurrentConfig, machineorder.DesiredConfig, machineorder.State, machineorder.Reason, machineorder.DesiredDrain,
		machineorder.LastAppliedDrain, machineorder.OrderAnnotation, machineorder.ReportAnnotation, UpdatedAnnotation, OrderedAnnotation, AgentAnnotation,
	}
}

// Relevant returns the annotations of a node that decisions can depend on. Others write theirs every minute.
func Relevant(node *corev1.Node) map[string]string {
	out := map[string]string{}
	for name, value := range node.Annotations {
		if strings.HasPrefix(name, "opcrew.io/") || strings.HasPrefix(name, "machineconfiguration.openshift.io/") {
			out[name] = value
		}
	}
	return out
}

// Updating is the taint of a node that has still to change, and Startup that of a new node.
var (
	Updating = corev1.Taint{Key: mcfgv1.UpdateTaint, Effect: corev1.TaintEffectPreferNoSchedule}
	Startup  = corev1.Taint{Key: StartupTaint, Effect: corev1.TaintEffectNoSchedule}
)

// Has reports whether a node has a taint, with any value.
func Has(node *corev1.Node, taint corev1.Taint) bool { return indexOf(node.Spec.Taints, taint) >= 0 }

func indexOf(taints []corev1.Taint, taint corev1.Taint) int {
	return slices.IndexFunc(taints, func(t corev1.Taint) bool { return t.Key == taint.Key && t.Effect == taint.Effect })
}

// Report returns what the machine agent reported last; the zero Report if it reported nothing, or nothing readable.
func Report(node *corev1.Node) machineorder.Report {
	text, found := node.Annotations[machineorder.ReportAnnotation]
	if !found {
		return machineorder.Report{}
	}
	report, err := machineorder.ParseReport(text)
	if err != nil {
		return machineorder.Report{}
	}
	return report
}
