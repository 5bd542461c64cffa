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

func test(path string, value any) operation { return operation{"test", path, value} }

func replace(path string, value any) operation { return operation{"replace", path, value} }

// podPatch patches exactly the pod that was looked at; annotation is the one that tells what for.
func podPatch(pod *corev1.Pod, intent, annotation string, operations ...operation) kit.Patch {
	data, err := json.Marshal(append([]operation{test("/metadata/uid", pod.UID)}, operations...))
	if err != nil { // text and nothing else
		panic(fmt.Errorf("encode a patch: %w", err))
	}
	return kit.Patch{
		Object: pod, Type: types.JSONPatchType, Data: data, Intent: intent,
		Fields: fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", annotation)),
	}
}

// annotationPath is that of an annotation in a JSON patch (RFC 6901).
func annotationPath(key string) string {
	return "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
