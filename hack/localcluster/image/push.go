// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Push sends a saved image to the registry in tag, or to Docker Hub if tag names no registry. It uses the credentials
// of Docker and Podman, and allows plain HTTP for a registry on a loopback address. It returns the name of the image
// with its digest instead of the tag.
func Push(ctx context.Context, tarPath, tag string, options ...remote.Option) (string, error) {
	ref, err := target(tag)
	if err != nil {
		return "", fmt.Errorf("push %s: %w", tag, err)
	}
	if err := Holds(tarPath, tag); err != nil {
		return "", fmt.Errorf("push %s: %w", tag, err)
	}
	img, err := tarball.ImageFromPath(tarPath, nil)
	if err != nil {
		return "", fmt.Errorf("push %s: %w", tag, err)
	}
	digest, err := img.Digest()
	if err != nil {
		return "", fmt.Errorf("push %s: %w", tag, err)
	}
	options = append([]remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}, options...)
	if err := remote.Write(ref, img, options...); err != nil {
		return "", fmt.Errorf("push %s: %w%s", tag, err, loginHint(err, ref.RegistryStr()))
	}
	return strings.TrimSuffix(tag, ":"+ref.TagStr()) + "@" + digest.String(), nil
}

// target parses a tag by Docker's rules. If the first part of the tag has no dot, no port and no capital letter, this
// part is not a registry but a user name on Docker Hub.
func target(tag string) (name.Tag, error) {
	ref, err := reference.ParseNormalizedNamed(tag)
	if err != nil {
		return name.Tag{}, err
	}
	tagged, ok := ref.(reference.NamedTagged)
	if !ok {
		return name.Tag{}, errors.New("the name has no tag; add one after a colon")
	}
	registry, err := name.NewRegistry(reference.Domain(ref))
	if err != nil {
		return name.Tag{}, err
	}
	return registry.Repo(reference.Path(ref)).Tag(tagged.Tag()), nil
}

// Exists returns an error unless a registry has the image. The name of the image contains its digest.
func Exists(ctx context.Context, digested string, options ...remote.Option) error {
	ref, err := reference.ParseNormalizedNamed(digested)
	if err != nil {
		return fmt.Errorf("look for %s: %w", digested, err)
	}
	canonical, ok := ref.(reference.Canonical)
	if !ok {
		return fmt.Errorf("look for %s: the name contains no digest", digested)
	}
	registry, err := name.NewRegistry(reference.Domain(ref))
	if err != nil {
		return fmt.Errorf("look for %s: %w", digested, err)
	}
	options = append([]remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}, options...)
	if _, err := remote.Head(registry.Repo(reference.Path(ref)).Digest(canonical.Digest().String()), options...); err != nil {
		return fmt.Errorf("look for %s: %w%s", digested, err, loginHint(err, registry.RegistryStr()))
	}
	return nil
}

// loginHint returns advice for the user if the registry refused the credentials, and "" otherwise.
func loginHint(err error, registry string) string {
	var refused *transport.Error
	if errors.As(err, &refused) && (refused.StatusCode == http.StatusUnauthorized || refused.StatusCode == http.StatusForbidden) {
		return "; log in with docker login " + registry + ", or with another tool that writes ~/.docker/config.json"
	}
	return ""
}

// Holds returns an error unless the image in a tar has the tag.
func Holds(tarPath, tag string) error {
	manifest, err := manifestOf(tarPath)
	if err != nil {
		return err
	}
	if !slices.Contains(manifest.RepoTags, tag) {
		return fmt.Errorf("%s contains the image %s, not %s", tarPath, strings.Join(manifest.RepoTags, ", "), tag)
	}
	return nil
}
