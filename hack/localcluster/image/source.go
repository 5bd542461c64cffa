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

// Source builds an image of the catalogue.
type Source struct {
	Name    string
	Summary string
	// Tool builds it: two images of one tool should not be built at once.
	Tool string
	// Tags may hold {version} and {minor}, which are known once it is made.
	Tags []string
	// Series is the minor version that it is known to have; empty if only making it shows that.
	Series string

	// content is everything that determines the result.
	content any
	write   func(ctx context.Context, work, output string) error
}

// The tools that make images.
const (
	ToolApt = "Debian packages"
	ToolGo  = "Go modules"
)

// Source is the recipe as a part of the catalogue.
func (r Recipe) Source() Source {
	return Source{Name: r.Name, Summary: r.Summary, Tool: ToolApt, Tags: r.Tags, Series: r.Series, content: r, write: r.Write}
}

// Sources are the whole catalogue: all images that can be made here.
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

// Offering returns the sources that may have a tag.
func Offering(sources []Source, tag name.Tag) []Source {
	return slices.DeleteFunc(slices.Clone(sources), func(s Source) bool { return !s.Offers(tag) })
}

// FindSource returns the source of that name, or that may have that tag.
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
	return Source{}, fmt.Errorf("the catalogue has no image %q; `image catalog` lists what it has", text)
}

// Offers reports whether the source may have a tag. What it really has is known once it is made: see Open.
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

// Open reads an image that was saved as a tar. It reports false if the image does not have that tag: a
// tag is given by what the image holds, and another version is not an answer to it.
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
