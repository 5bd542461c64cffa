// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Source describes an image of the catalogue and how to build it.
type Source struct {
	Name    string
	Summary string
	// Tool is the tool that builds the image. Two images with the same tool should not be built concurrently.
	Tool string
	// Tags are the image's tags. They may contain {version} and {minor}, which are replaced once the image is built.
	Tags []string
	// Series is the prefix of the image's version. It is empty if the version is unknown before the build.
	Series string

	// content is everything that determines the built image. The cache hashes it.
	content any
	write   func(ctx context.Context, work, output string) error
}

// The tools that can build an image.
const (
	ToolApt = "Debian packages"
	ToolGo  = "Go modules"
)

// Source returns the recipe as an entry of the catalogue.
func (r Recipe) Source() Source {
	return Source{Name: r.Name, Summary: r.Summary, Tool: ToolApt, Tags: r.Tags, Series: r.Series, content: r, write: r.Write}
}

// Sources returns all images of the catalogue.
func Sources() []Source {
	var all []Source
	for _, recipe := range Recipes() {
		all = append(all, recipe.Source())
	}
	for _, module := range Modules() {
		all = append(all, module.Source())
	}
	return all
}

// Offering returns the sources that may provide an image with the tag.
func Offering(sources []Source, tag name.Tag) []Source {
	return slices.DeleteFunc(slices.Clone(sources), func(s Source) bool { return !s.Offers(tag) })
}

// FindSource returns the source whose name is text, or else the first source that may provide an image with text as its
// tag.
func FindSource(text string) (Source, error) {
	all := Sources()
	if i := slices.IndexFunc(all, func(s Source) bool { return s.Name == text }); i >= 0 {
		return all[i], nil
	}
	if tag, err := name.NewTag(text); err == nil {
		if found := Offering(all, tag); len(found) > 0 {
			return found[0], nil
		}
	}
	return Source{}, fmt.Errorf("the catalogue has no image %q; `image catalog` lists its images", text)
}

// Offers reports whether the image may have the given tag. The exact tags are only known after the build, when Open
// checks them.
func (s Source) Offers(tag name.Tag) bool {
	return slices.ContainsFunc(s.Tags, func(pattern string) bool { return s.fits(pattern, tag) })
}

func (s Source) fits(pattern string, tag name.Tag) bool {
	i := strings.LastIndex(pattern, ":")
	own, err := name.NewRepository(pattern[:i])
	if err != nil || own.Name() != tag.Repository.Name() {
		return false
	}
	prefix, _, open := strings.Cut(pattern[i+1:], "{")
	if !open {
		return tag.TagStr() == prefix
	}
	version, found := strings.CutPrefix(tag.TagStr(), prefix)
	return found && (s.Series == "" || version == s.Series || strings.HasPrefix(version, s.Series+"."))
}

// Open reads an image from a tar. It returns false if the image does not have the tag, so that no client gets a version
// that it did not request.
func Open(file string, tag name.Tag) (v1.Image, bool, error) {
	manifest, err := manifestOf(file)
	if err != nil {
		return nil, false, err
	}
	for _, text := range manifest.RepoTags {
		own, err := name.NewTag(text)
		if err != nil || own.Name() != tag.Name() {
			continue
		}
		image, err := tarball.ImageFromPath(file, &own)
		if err != nil {
			return nil, false, fmt.Errorf("read the image %s: %w", file, err)
		}
		return image, true, nil
	}
	return nil, false, nil
}
