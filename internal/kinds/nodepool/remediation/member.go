// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// RunLabel marks the Activities of remediations. Its value is the role.
const RunLabel = "opcrew.io/remediation"

// PoolOf returns the pool that remediates a node: the oldest one with spec.remediation to which the node belongs; nil if
// there is none.
func PoolOf(node *corev1.Node, pools []*nodesv1.NodePool) *nodesv1.NodePool {
	var all []*nodesv1.NodePool
	for _, p := range pools {
		if p.Spec.Remediation != nil && (p.DeletionTimestamp == nil || nodestate.Paused(p)) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	held := nodestate.LedgerOf(node)
	all = slices.DeleteFunc(all, func(p *nodesv1.NodePool) bool { return !nodestate.Belongs(p, node, held) })
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *nodesv1.NodePool) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// Concerns reports whether a node may need remediation, or has the taint of one.
func Concerns(node *corev1.Node) bool {
	return node.DeletionTimestamp == nil && (!isReady(node) || Fenced(node))
}

// Due reports whether a node is not Ready for so long that its machine may be fenced, and is not fenced yet.
func Due(node *corev1.Node, pool *nodesv1.NodePool, now time.Time) bool {
	_, since := Ready(node)
	r := RecordOf(node, pool.Status.Remediation)
	return !isReady(node) && !Fenced(node) && now.Sub(since) >= after(pool.Spec.Remediation) && (r == nil || r.Phase != nodesv1.RemediationFenced)
}

// IsRun reports whether an Activity belongs to a remediation.
func IsRun(a *egov1.Activity) bool { return a.Labels[RunLabel] != "" }

// Marked returns what the status of a pool says about nodes to mark, for the comparison of two states.
func Marked(pool *nodesv1.NodePool) string {
	var all []string
	for _, r := range pool.Status.Remediation {
		if r.Phase == nodesv1.RemediationFenced {
			all = append(all, string(r.UID)+" "+r.Since.UTC().String())
		}
	}
	return strings.Join(all, "\n")
}

// Child declares an Activity. It is never changed, and has no owner reference, as those of pipelines.
func Child(in *Input, run Run) ensure.Child {
	a := &egov1.Activity{Spec: in.Spec(run)}
	a.APIVersion, a.Kind = egov1.GroupVersion.String(), "Activity"
	a.Namespace, a.Name = pipeline.Namespace, run.Name
	a.Labels = map[string]string{
		"app.kubernetes.io/name": "nodepool", "app.kubernetes.io/part-of": common.Name,
		pipeline.PoolLabel: in.Pool.Name, RunLabel: string(run.Role),
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		panic(err) // cannot fail, because an Activity can always be encoded
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	object := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
	return ensure.Child{Object: object, Once: true, Retain: true}
}
