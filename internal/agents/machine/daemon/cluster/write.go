// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Write sets annotations of the Node with one patch. The patch fails if the Node, the order or one of these annotations
// has changed since it was seen. An empty value removes an annotation.
func (c *Client) Write(ctx context.Context, annotations map[string]string) error {
	node := c.seen()
	if node == nil {
		return errors.New("the Node has not been seen")
	}
	patch := operations(node, annotations).Encode()
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	node, err := c.nodes.Patch(ctx, c.server.Node, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "opcrew-machine"})
	if err != nil {
		return fmt.Errorf("write annotations of the Node: %w", err)
	}
	c.learn(node)
	return nil
}

func operations(node *metav1.PartialObjectMetadata, annotations map[string]string) jsonpatch.Patch {
	out := jsonpatch.Patch{jsonpatch.Test("/metadata/uid", string(node.UID))}
	if order, found := node.Annotations[machineorder.OrderAnnotation]; found {
		out = append(out, jsonpatch.Test(path(machineorder.OrderAnnotation), order))
	}
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		old, found := node.Annotations[name]
		if found && old != "" {
			out = append(out, jsonpatch.Test(path(name), old))
		}
		switch value := annotations[name]; {
		case value != "":
			out = append(out, jsonpatch.Add(path(name), value))
		case found:
			out = append(out, jsonpatch.Remove(path(name)))
		}
	}
	return out
}

// path returns the JSON pointer to an annotation.
func path(name string) string { return jsonpatch.Pointer("metadata", "annotations", name) }
