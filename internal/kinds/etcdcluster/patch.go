// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/opcrew/opcrew/internal/kit"
)

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// podChange is a patch of exactly the pod that was looked at, as long as no one has changed the same.
type podChange struct {
	pod    *corev1.Pod
	intent string
	steps  []operation
	fields []fieldpath.Path
}

// annotate sets an annotation of a pod, which has others; if it has this one, it is as it was seen.
func (p *podChange) annotate(key, value string) {
	at := "/metadata/annotations/" + escaped(key)
	if was, there := p.pod.Annotations[key]; there {
		p.steps = append(p.steps, operation{"test", at, was})
	}
	p.steps = append(p.steps, operation{"add", at, value})
	p.fields = append(p.fields, fieldpath.MakePathOrDie("metadata", "annotations", key))
}

// label sets a label; every pod of a member has some.
func (p *podChange) label(key, value string) {
	p.steps = append(p.steps, operation{"add", "/metadata/labels/" + escaped(key), value})
	p.fields = append(p.fields, fieldpath.MakePathOrDie("metadata", "labels", key))
}

// run has the container run another image.
func (p *podChange) run(image string) {
	p.steps = append(p.steps, operation{"test", "/spec/containers/0/name", container}, operation{"replace", "/spec/containers/0/image", image})
}

func (p *podChange) patch() kit.Patch {
	data, err := json.Marshal(append([]operation{{"test", "/metadata/uid", p.pod.UID}}, p.steps...))
	if err != nil { // text and nothing else
		panic(fmt.Errorf("encode a patch: %w", err))
	}
	return kit.Patch{Object: p.pod, Type: types.JSONPatchType, Data: data, Intent: p.intent, Fields: fieldpath.NewSet(p.fields...)}
}

// escaped is a key as a JSON pointer has it (RFC 6901).
func escaped(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }
