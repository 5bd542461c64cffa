// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
)

// Limits of a preview. They keep the status small, regardless of the number of nodes.
const (
	maxChanges   = 32
	maxEvictions = 16
	maxExamples  = 3
)

// thaw returns a copy of the list of NodePools in which the given NodePool is neither paused nor in dry run.
func thaw(pool *nodesv1.NodePool, pools []*nodesv1.NodePool) []*nodesv1.NodePool {
	out := slices.Clone(pools)
	for i, p := range out {
		if p.Name == pool.Name {
			out[i] = p.DeepCopy()
			delete(out[i].Annotations, common.DryRunAnnotation)
			delete(out[i].Annotations, common.PausedAnnotation)
		}
	}
	return out
}

// evicts reports whether the NodePool has a taint that evicts pods.
func evicts(pool *nodesv1.NodePool) bool {
	return slices.ContainsFunc(pool.Spec.Taints, func(t nodesv1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute
	})
}

// previewInput holds everything from which the preview of a dry run is computed.
type previewInput struct {
	// members are the nodes of the NodePool as they would be without a pause or dry run.
	members []*member
	pods    []corev1.Pod
	class   *nodev1.RuntimeClass
	// classChanges is true if the RuntimeClass of the NodePool would change too.
	classChanges bool
	// configChange describes how the MachineConfigPool of the NodePool would change; "" if it would not.
	configChange string
}

// preview returns what opcrew would change if the NodePool were neither paused nor in dry run.
func preview(pool *nodesv1.NodePool, in previewInput) *nodesv1.Preview {
	out := &nodesv1.Preview{}
	if in.classChanges {
		out.Changes = append(out.Changes, classChange(pool, in.class))
	}
	if in.configChange != "" {
		out.Changes = append(out.Changes, in.configChange)
	}
	var lines []string // descriptions of changes, in the order in which they first occur
	nodes := map[string][]string{}
	for _, m := range in.members {
		todo := nodestate.Changes(m.node, m.desired)
		if len(todo) > 0 {
			out.NodeCount++
		}
		for _, c := range todo {
			line := c.String()
			if nodes[line] == nil {
				lines = append(lines, line)
			}
			nodes[line] = append(nodes[line], m.node.Name)
		}
		gone := evictions(m, todo, in.pods)
		out.EvictionCount += int32(len(gone))
		out.Evictions = append(out.Evictions, gone[:min(len(gone), maxEvictions-len(out.Evictions))]...)
	}
	slices.Sort(lines)
	for _, line := range lines {
		out.Changes = append(out.Changes, line+" on "+countNodes(nodes[line]))
	}
	if len(out.Changes) > maxChanges {
		more := len(out.Changes) - maxChanges + 1
		out.Changes = append(out.Changes[:maxChanges-1], fmt.Sprintf("and %d more changes", more))
	}
	return out
}

// classChange describes how the RuntimeClass of the NodePool would change.
func classChange(pool *nodesv1.NodePool, class *nodev1.RuntimeClass) string {
	if class != nil && class.Handler != pool.Handler() {
		return fmt.Sprintf("replace RuntimeClass %s to change its handler from %s to %s: running pods continue, but new pods are rejected for a moment",
			pool.Name, class.Handler, pool.Handler())
	}
	return "apply RuntimeClass " + pool.Name
}

// evictions returns the pods on a node that new NoExecute taints would evict, at once or after the tolerationSeconds of
// a pod.
func evictions(m *member, todo []nodestate.Change, pods []corev1.Pod) []string {
	var taints []corev1.Taint
	for _, c := range todo {
		if c.Item.Kind != nodesv1.ConflictTaint || !c.Wanted {
			continue
		}
		if t := c.Item.Taint(c.New); t.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, t)
		}
	}
	if len(taints) == 0 {
		return nil
	}
	var out []string
	for i := range pods {
		if pods[i].Spec.NodeName == m.node.Name && evicted(&pods[i], taints) {
			out = append(out, fmt.Sprintf("%s/%s on %s", pods[i].Namespace, pods[i].Name, m.node.Name))
		}
	}
	return out
}

func evicted(pod *corev1.Pod, taints []corev1.Taint) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	return slices.ContainsFunc(taints, func(taint corev1.Taint) bool {
		return !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return t.TolerationSeconds == nil && t.ToleratesTaint(logr.Discard(), &taint, false)
		})
	})
}

// countNodes returns a text with the number of nodes and the names of the first few nodes.
func countNodes(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if len(names) == 1 {
		return "1 node (" + names[0] + ")"
	}
	shown := strings.Join(names[:min(len(names), maxExamples)], ", ")
	if len(names) > maxExamples {
		shown += ", ..."
	}
	return fmt.Sprintf("%d nodes (%s)", len(names), shown)
}
