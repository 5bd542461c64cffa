// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Layer is a part of the operator that runs as one Deployment under one ServiceAccount.
type Layer struct {
	Name  string
	Kinds []string
	// Separate are the kinds of the layer that are installed separately, with a role of their own.
	Separate []string
	// Rights are the RBAC rights that every layer has, followed by the rights of the layer's kinds.
	Rights []Right
}

// Layers returns the layers of the operator, each of which is one Deployment. It reads the kinds of each layer from the
// Makefile below root, and the rights of the kinds from the markers in their code.
func Layers(root string) ([]Layer, error) {
	lists, err := variables(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	common, err := OfPackage(filepath.Join(root, "internal/kit"), "")
	if err != nil {
		return nil, err
	}
	var layers []Layer
	for _, name := range lists["LAYERS"] {
		layer := Layer{Name: name, Kinds: lists["KINDS_"+name], Separate: lists["KINDS_separate"], Rights: common}
		for _, kind := range layer.Kinds {
			rights, err := OfPackage(filepath.Join(root, "internal/kinds", kind), kind)
			if err != nil {
				return nil, err
			}
			layer.Rights = append(slices.Clip(layer.Rights), rights...)
		}
		layers = append(layers, layer)
	}
	if len(layers) == 0 {
		return nil, fmt.Errorf("the Makefile in %s has no variable LAYERS", root)
	}
	return layers, nil
}

// variables returns the variables of a Makefile whose values are lists.
func variables(makefile string) (map[string][]string, error) {
	content, err := os.ReadFile(makefile)
	if err != nil {
		return nil, fmt.Errorf("read the layers: %w", err)
	}
	lists := map[string][]string{}
	for line := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(line, ":="); ok {
			lists[strings.TrimSpace(name)] = strings.Fields(value)
		}
	}
	return lists, nil
}
