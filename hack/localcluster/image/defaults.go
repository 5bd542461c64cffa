// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// UserCache returns the cache that keeps built images from one cluster to the next.
func UserCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, fmt.Errorf("find a place for built images: %w", err)
	}
	return Cache{Dir: filepath.Join(dir, "opcrew", "images")}, nil
}

// LoadDefaults loads what a new cluster needs: the sandbox image, built from the binary at the path pause, and an image
// with a shell. It skips nodes that have images with the same content, as a name alone does not show it.
func LoadDefaults(ctx context.Context, nodes []state.Node, pause string) error {
	cache, err := UserCache()
	if err != nil {
		return err
	}
	sandbox, err := cache.Binary(Pause(pause))
	if err != nil {
		return fmt.Errorf("make the sandbox image: %w", err)
	}
	shell, err := cache.Recipe(ctx, Default())
	if err != nil {
		return fmt.Errorf("make the image %s: %w", Default().Name, err)
	}
	for _, file := range []string{sandbox, shell} {
		missing, err := without(ctx, nodes, file)
		if err != nil {
			return err
		}
		if err := Load(ctx, missing, file); err != nil {
			return err
		}
	}
	return nil
}

// without returns the nodes that do not have the image of a tar.
func without(ctx context.Context, nodes []state.Node, file string) ([]state.Node, error) {
	// The digest of the config identifies the content, whatever its tags are.
	manifest, err := manifestOf(file)
	if err != nil {
		return nil, err
	}
	var missing []state.Node
	for _, node := range nodes {
		out, err := ctr(ctx, node, "content", "list", "--quiet")
		if err != nil {
			return nil, err
		}
		if !slices.Contains(strings.Fields(out), manifest.Config) {
			missing = append(missing, node)
		}
	}
	return missing, nil
}
