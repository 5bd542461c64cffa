// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kit"
)

// byOpcrew is the value of the out-of-service taint that opcrew sets. Kubernetes accepts any value, and this one says
// whose taint it is, even if another client removed FencedTaint.
const byOpcrew = "fenced-by-opcrew"

// answered is the prefix of the value of FencedTaint on a node whose machine answered although it was reported as off.
const answered = "answered-"

// markOf returns the value of FencedTaint of a node, and whether the node has the taint. No kubelet can change taints.
func markOf(node *corev1.Node) (string, bool) {
	for _, t := range node.Spec.Taints {
		if t.Key == nodesv1.FencedTaint {
			return t.Value, true
		}
	}
	return "", false
}

// Fenced reports whether a node has the taint of a fenced machine.
func Fenced(node *corev1.Node) bool {
	_, ok := markOf(node)
	return ok
}

// outByOther reports whether another owner has taken the node out of service.
func outByOther(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeOutOfService && t.Value != byOpcrew
	})
}

// isOurs reports whether a taint is one of opcrew's two.
func isOurs(t corev1.Taint) bool {
	return t.Key == nodesv1.FencedTaint || t.Key == corev1.TaintNodeOutOfService && t.Value == byOpcrew
}

// marks are the taints that a node should have: the value of FencedTaint, empty for none, and whether it is out of
// service.
type marks struct {
	fenced       string
	outOfService bool
}

// markRule returns the marks of a node, or nil if the next rule decides.
type markRule func(node *corev1.Node, pool *nodesv1.NodePool) *marks

// markRules are in the order in which they decide. pool is the pool that remediates the node; nil if none does.
var markRules = []markRule{noPoolRemediates, machineRestarted, machineLied, machineRuns, machineStaysOff, evidenceIsThere}

func wanted(node *corev1.Node, pool *nodesv1.NodePool) marks {
	for _, r := range markRules {
		if m := r(node, pool); m != nil {
			return *m
		}
	}
	return marks{}
}

func noPoolRemediates(_ *corev1.Node, pool *nodesv1.NodePool) *marks {
	if pool == nil {
		return &marks{}
	}
	return nil
}

// machineRestarted: what ran before the restart has ended, so the taints can go even before the node is Ready. A network
// plugin that does not tolerate them could otherwise never make the node Ready.
func machineRestarted(node *corev1.Node, _ *nodesv1.NodePool) *marks {
	if mark, ok := markOf(node); ok && strings.TrimPrefix(mark, answered) != bootMark(node) {
		return &marks{}
	}
	return nil
}

// machineLied: new pods stay away until the machine restarts, but no pod of it may be deleted by force again.
func machineLied(node *corev1.Node, _ *nodesv1.NodePool) *marks {
	if mark, _ := markOf(node); strings.HasPrefix(mark, answered) {
		return &marks{fenced: mark}
	}
	return nil
}

func machineRuns(node *corev1.Node, _ *nodesv1.NodePool) *marks {
	if mark, ok := markOf(node); ok && reports(node) {
		return &marks{fenced: answered + mark}
	}
	return nil
}

func machineStaysOff(node *corev1.Node, _ *nodesv1.NodePool) *marks {
	if mark, ok := markOf(node); ok {
		return &marks{fenced: mark, outOfService: true}
	}
	return nil
}

func evidenceIsThere(node *corev1.Node, pool *nodesv1.NodePool) *marks {
	r := RecordOf(node, pool.Status.Remediation)
	if r == nil || r.Phase != nodesv1.RemediationFenced || reports(node) || node.Status.NodeInfo.BootID == "" || outByOther(node) {
		return nil
	}
	return &marks{fenced: bootMark(node), outOfService: true}
}

// Patch returns the patch that brings the taints of a fenced node into the wanted state, and the event that reports it;
// false if nothing has to change. It tests the taints, the boot and the readiness on which the decision is based, so a
// stale cache cannot mark a machine that has returned.
func Patch(node *corev1.Node, pool *nodesv1.NodePool) (kit.Patch, []kit.Event, bool) {
	m := wanted(node, pool)
	taints := withMarks(node, m)
	if equality.Semantic.DeepEqual(taints, node.Spec.Taints) {
		return kit.Patch{}, nil, false
	}
	ops := append(unchanged(node), taintOperation(taints))
	return kit.Patch{Object: node, Type: types.JSONPatchType, Data: ops.Encode(), Intent: "remediation " + m.fenced}, events(node, m), true
}

func unchanged(node *corev1.Node) jsonpatch.Patch {
	ops := jsonpatch.Patch{
		jsonpatch.Test("/metadata/uid", string(node.UID)),
		jsonpatch.Unchanged("/spec/taints", node.Spec.Taints, len(node.Spec.Taints) > 0),
		jsonpatch.Test("/status/nodeInfo/bootID", node.Status.NodeInfo.BootID),
	}
	for i, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			path := "/status/conditions/" + strconv.Itoa(i)
			ops = append(ops, jsonpatch.Test(path+"/type", c.Type), jsonpatch.Test(path+"/status", c.Status))
			if !c.LastTransitionTime.IsZero() { // the evidence is about this outage only
				ops = append(ops, jsonpatch.Test(path+"/lastTransitionTime", c.LastTransitionTime))
			}
		}
	}
	return ops
}

func taintOperation(taints []corev1.Taint) jsonpatch.Operation {
	if len(taints) == 0 {
		return jsonpatch.Remove("/spec/taints")
	}
	return jsonpatch.Add("/spec/taints", taints)
}

// withMarks returns the taints of a node with the marks. The out-of-service taint of another owner stays.
func withMarks(node *corev1.Node, m marks) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range node.Spec.Taints {
		if !isOurs(t) || t.Key == nodesv1.FencedTaint && t.Value == m.fenced || t.Key == corev1.TaintNodeOutOfService && m.outOfService {
			out = append(out, t)
		}
	}
	add := func(t corev1.Taint) {
		if !slices.ContainsFunc(out, func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect }) {
			out = append(out, t)
		}
	}
	if m.fenced != "" {
		add(corev1.Taint{Key: nodesv1.FencedTaint, Value: m.fenced, Effect: corev1.TaintEffectNoSchedule})
	}
	if m.outOfService {
		add(corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: byOpcrew, Effect: corev1.TaintEffectNoExecute})
	}
	return out
}

// events returns the event on the node for a change of its marks.
func events(node *corev1.Node, m marks) []kit.Event {
	switch {
	case strings.HasPrefix(m.fenced, answered):
		return []kit.Event{{Warning: true, Reason: "FencedMachineRuns", Action: action,
			Note: "The machine answers again and was not restarted, although the fence and powerStatus commands of its NodePool reported it as off; pods may have run twice"}}
	case m.fenced != "":
		return []kit.Event{{Warning: true, Reason: "MachineFenced", Action: action,
			Note: "There is evidence that the machine is off; its pods are deleted and run elsewhere"}}
	case slices.ContainsFunc(node.Spec.Taints, isOurs):
		return []kit.Event{{Reason: "MachineReturned", Action: action,
			Note: "The machine was restarted, or its NodePool remediates it no longer; opcrew removed the taints of the fenced machine"}}
	}
	return nil
}
