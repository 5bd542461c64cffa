// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"golang.org/x/sync/singleflight"

	"github.com/opcrew/opcrew/hack/localcluster/image"
)

// errUnknown reports that no image of the catalogue has the tag.
var errUnknown = errors.New("the catalogue has no such image")

// buildTimeout limits a build. It is much longer than the build of the largest image takes on a slow machine.
const buildTimeout = 20 * time.Minute

// store returns images by tag and by digest, and builds images that do not exist yet.
type store struct {
	sources []image.Source
	// built returns the path of an image's tar, or "" if the image is not built yet.
	built func(image.Source) (string, error)
	// build builds an image. Afterwards, built returns its path.
	build func(context.Context, image.Source) error

	builds singleflight.Group
	// tools has a lock for each build tool, because two concurrent builds with the same tool would slow each other
	// down.
	tools map[string]*sync.Mutex

	mu     sync.Mutex
	tags   map[string]v1.Image
	images map[v1.Hash]v1.Image
	layers map[v1.Hash]v1.Layer
}

func newStore(sources []image.Source, built func(image.Source) (string, error), build func(context.Context, image.Source) error) *store {
	s := &store{
		sources: sources, built: built, build: build,
		tools: map[string]*sync.Mutex{}, tags: map[string]v1.Image{}, images: map[v1.Hash]v1.Image{}, layers: map[v1.Hash]v1.Layer{},
	}
	for _, source := range sources {
		s.tools[source.Tool] = &sync.Mutex{}
	}
	return s
}

// byTag returns the image with the given tag, and builds the image if necessary. It returns errUnknown if the catalogue
// has no such image.
func (s *store) byTag(ctx context.Context, tag name.Tag) (v1.Image, error) {
	s.mu.Lock()
	found := s.tags[tag.Name()]
	s.mu.Unlock()
	if found != nil {
		return found, nil
	}
	for _, source := range image.Offering(s.sources, tag) {
		file, err := s.file(ctx, source)
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", source.Name, err)
		}
		img, has, err := image.Open(file, tag)
		if err != nil {
			return nil, err
		}
		if has {
			return img, s.keep(tag, img)
		}
	}
	return nil, errUnknown
}

// file returns the path of an image's tar, and waits until the image is built. A client that gives up does not cancel
// the build, because clients retry and then need the image.
func (s *store) file(ctx context.Context, source image.Source) (string, error) {
	if file, err := s.built(source); file != "" || err != nil {
		return file, err
	}
	done := s.builds.DoChan(source.Name, func() (any, error) { return s.buildOnce(source) })
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case result := <-done:
		file, _ := result.Val.(string)
		return file, result.Err
	}
}

func (s *store) buildOnce(source image.Source) (string, error) {
	tool := s.tools[source.Tool]
	tool.Lock()
	defer tool.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	began := time.Now()
	log.Printf("building %s from %s", source.Name, source.Tool)
	if err := s.build(ctx, source); err != nil {
		log.Printf("building %s failed: %v", source.Name, err)
		return "", err
	}
	log.Printf("built %s in %.1fs", source.Name, time.Since(began).Seconds())
	file, err := s.built(source)
	if err == nil && file == "" {
		err = errors.New("the build succeeded, but the cache does not contain the image")
	}
	return file, err
}

// keep stores an image under the digests of its manifest, config and layers, which a client requests after the tag.
func (s *store) keep(tag name.Tag, img v1.Image) error {
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	config, err := partial.ConfigLayer(img)
	if err != nil {
		return err
	}
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tags[tag.Name()], s.images[digest] = img, img
	for _, layer := range append(layers, config) {
		digest, err := layer.Digest()
		if err != nil {
			return err
		}
		s.layers[digest] = layer
	}
	return nil
}

// byDigest returns the image with the given digest. It returns nil unless a client has already requested the image by a
// tag.
func (s *store) byDigest(digest v1.Hash) v1.Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.images[digest]
}

func (s *store) layer(digest v1.Hash) v1.Layer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.layers[digest]
}
