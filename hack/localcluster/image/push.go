// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// HasRegistry tells whether a tag names the registry that it is to be found in, by
// the rule of the container tools: a first part with a dot or a port, or localhost.
func HasRegistry(tag string) bool {
	first, _, found := strings.Cut(tag, "/")
	return found && (strings.ContainsAny(first, ".:") || first == "localhost")
}

// Push sends an image that was saved as a tar to the registry that its tag names,
// with the credentials that the container tools keep for it.
func Push(ctx context.Context, tarPath, tag string) error {
	ref, err := name.NewTag(tag)
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	img, err := tarball.ImageFromPath(tarPath, &ref)
	if err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	if err := remote.Write(ref, img, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	return nil
}
