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

// UserCache returns the cache of built images in the user's cache directory. It outlives a cluster.
func UserCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, fmt.Errorf("find the user's cache folder for built images: %w", err)
	}
	return Cache{Dir: filepath.Join(dir, "opcrew", "images")}, nil
}

// LoadDefaults loads the two images that a new cluster needs: the sandbox image, built from the binary at path pause,
// and an image with a shell. It skips nodes that already have an image with the same content.
func LoadDefaults(ctx context.Context, nodes []state.Node, pause string) error {
	cache, err := UserCache()
	if err != nil {
		return err
	}
	sandbox, err := cache.Binary(Pause(pause))
	if err != nil {
		return fmt.Errorf("build the sandbox image: %w", err)
	}
	shell, err := cache.Recipe(ctx, Default())
	if err != nil {
		return fmt.Errorf("build the image %s: %w", Default().Name, err)
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

// without returns the nodes that do not have the image in file yet.
func without(ctx context.Context, nodes []state.Node, file string) ([]state.Node, error) {
	// Compare the digest of the config, because it identifies the content whatever tags the image has.
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
