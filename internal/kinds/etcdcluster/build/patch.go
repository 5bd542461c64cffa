// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
)

// PodPatch collects changes to a pod into one JSON patch. The patch fails if a field no longer has the value that
// opcrew observed.
type PodPatch struct {
	Pod    *corev1.Pod
	Intent string
	steps  jsonpatch.Patch
	fields []fieldpath.Path
}

// Annotate sets an annotation. The patch fails if the annotation has changed since opcrew observed it.
func (p *PodPatch) Annotate(key, value string) {
	at := jsonpatch.Pointer("metadata", "annotations", key)
	if was, there := p.Pod.Annotations[key]; there {
		p.steps = append(p.steps, jsonpatch.Test(at, was))
	}
	p.steps = append(p.steps, jsonpatch.Add(at, value))
	p.fields = append(p.fields, fieldpath.MakePathOrDie("metadata", "annotations", key))
}

// Label sets a label. A JSON patch cannot create the labels map, but pods of members always have labels.
func (p *PodPatch) Label(key, value string) {
	p.steps = append(p.steps, jsonpatch.Add(jsonpatch.Pointer("metadata", "labels", key), value))
	p.fields = append(p.fields, fieldpath.MakePathOrDie("metadata", "labels", key))
}

// run sets the image of etcd's container. The patch fails if the first container is not the one that runs etcd.
func (p *PodPatch) run(image string) {
	p.steps = append(p.steps, jsonpatch.Test("/spec/containers/0/name", model.Container), jsonpatch.Replace("/spec/containers/0/image", image))
}

// Patch returns the collected changes as one patch. The patch fails if another pod has replaced the observed pod.
func (p *PodPatch) Patch() kit.Patch {
	ops := append(jsonpatch.Patch{jsonpatch.Test("/metadata/uid", p.Pod.UID)}, p.steps...)
	return kit.Patch{Object: p.Pod, Type: types.JSONPatchType, Data: ops.Encode(), Intent: p.Intent, Fields: fieldpath.NewSet(p.fields...)}
}
