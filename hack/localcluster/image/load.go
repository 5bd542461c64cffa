// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Load imports image tars into all nodes in parallel. Parallel imports are faster, because an import mostly waits for
// the disk.
func Load(ctx context.Context, nodes []state.Node, files ...string) error {
	for _, file := range files {
		if _, err := manifestOf(file); err != nil {
			return err
		}
	}
	errs := make([]error, len(nodes))
	var wait sync.WaitGroup
	for i, node := range nodes {
		wait.Go(func() { errs[i] = loadNode(ctx, node, files) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func loadNode(ctx context.Context, node state.Node, files []string) error {
	for _, file := range files {
		if _, err := ctr(ctx, node, "images", "import", file); err != nil {
			return fmt.Errorf("load %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}

// ctr runs the ctr program against a node's containerd, in the namespace that holds the images of pods.
func ctr(ctx context.Context, node state.Node, args ...string) (string, error) {
	args = append([]string{"--address", node.ContainerdSocket, "--namespace", "k8s.io"}, args...)
	out, err := exec.CommandContext(ctx, "ctr", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ctr on %s: %w: %s", node.Name, err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// List returns the image tags on the running nodes. Each tag maps to the names of the nodes that have it.
func List(ctx context.Context, nodes []state.Node) (map[string][]string, error) {
	held := map[string][]string{}
	for _, node := range nodes {
		out, err := ctr(ctx, node, "images", "list", "--quiet")
		if err != nil {
			return nil, err
		}
		for _, tag := range tagsOf(out) {
			held[tag] = append(held[tag], node.Name)
		}
	}
	return held, nil
}

// tagsOf extracts the tags from a list of image names. It leaves out the names by digest that the runtime adds.
func tagsOf(list string) []string {
	found := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		if !strings.HasPrefix(name, "sha256:") && !strings.Contains(name, "@") {
			found[strings.TrimPrefix(name, "docker.io/library/")] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
