// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// Source is where the objects of machines are: their kind, and for Cluster API their namespace.
type Source struct {
	schema.GroupVersionKind
	Namespace string
}

// SourceOf returns where the machines are that a template may have made.
func SourceOf(ref nodesv1.TemplateRef) Source {
	gvk := KindOf(ref)
	kind, clusterAPI := strings.CutSuffix(gvk.Kind, "Template")
	if !clusterAPI {
		return Source{GroupVersionKind: schema.GroupVersionKind{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim"}}
	}
	gvk.Kind = kind
	return Source{GroupVersionKind: gvk, Namespace: ref.Namespace}
}

// Karpenter reports whether Karpenter makes the machines, and not Cluster API.
func (s Source) Karpenter() bool { return s.Group == "karpenter.sh" }

// KindOf returns the kind of a template. The CRD has already validated it.
func KindOf(ref nodesv1.TemplateRef) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
}

func templateOf(pool *nodesv1.NodePool) *nodesv1.TemplateRef {
	if pool.Spec.Machine == nil {
		return nil
	}
	return pool.Spec.Machine.TemplateRef
}

func describe(ref nodesv1.TemplateRef) string { return ref.Kind + " " + ref.Name }
