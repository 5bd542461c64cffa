// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kit"
)

// operation is one operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// PodPatch collects changes to a pod into one JSON patch. The patch fails if a field no longer has the value that
// opcrew observed.
type PodPatch struct {
	Pod    *corev1.Pod
	Intent string
	steps  []operation
	fields []fieldpath.Path
}

// Annotate sets an annotation. The patch fails if the annotation has changed since opcrew observed it.
func (p *PodPatch) Annotate(key, value string) {
	at := "/metadata/annotations/" + Escaped(key)
	if was, there := p.Pod.Annotations[key]; there {
		p.steps = append(p.steps, operation{"test", at, was})
	}
	p.steps = append(p.steps, operation{"add", at, value})
	p.fields = append(p.fields, fieldpath.MakePathOrDie("metadata", "annotations", key))
}

// Label sets a label. A JSON patch cannot create the labels map, but pods of members always have labels.
func (p *PodPatch) Label(key, value string) {
	p.steps = append(p.steps, operation{"add", "/metadata/labels/" + Escaped(key), value})
	p.fields = append(p.fields, fieldpath.MakePathOrDie("metadata", "labels", key))
}

// run sets the image of etcd's container. The patch fails if the first container is not the one that runs etcd.
func (p *PodPatch) run(image string) {
	p.steps = append(p.steps, operation{"test", "/spec/containers/0/name", model.Container}, operation{"replace", "/spec/containers/0/image", image})
}

// Patch returns the collected changes as one patch. The patch fails if another pod has replaced the observed pod.
func (p *PodPatch) Patch() kit.Patch {
	data, err := json.Marshal(append([]operation{{"test", "/metadata/uid", p.Pod.UID}}, p.steps...))
	if err != nil { // cannot happen: all values are strings
		panic(fmt.Errorf("encode a patch: %w", err))
	}
	return kit.Patch{Object: p.Pod, Type: types.JSONPatchType, Data: data, Intent: p.Intent, Fields: fieldpath.NewSet(p.fields...)}
}

// Escaped escapes a key for a JSON pointer (RFC 6901).
func Escaped(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }
