// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/coreos/ignition/v2/config/v3_5/types"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// newHost converts a merged config to the configuration of a host. Lists are sorted, so that equal configurations are
// equal byte for byte.
func newHost(merged types.Config, n *notes) (hostconfig.Config, []SecretUse) {
	files, secrets := newFiles(merged.Storage.Files, n)
	return hostconfig.Config{
		Directories: newDirectories(merged.Storage.Directories),
		Files:       files,
		Links:       newLinks(merged.Storage.Links),
		Units:       newUnits(merged.Systemd.Units, n),
		Users:       newUsers(merged.Passwd.Users),
	}, secrets
}

func newDirectories(directories []types.Directory) []hostconfig.Directory {
	var out []hostconfig.Directory
	for _, d := range directories {
		out = append(out, hostconfig.Directory{Entry: newEntry(d.Node), Mode: newMode(d.Mode)})
	}
	return sorted(out, func(d hostconfig.Directory) string { return d.Path })
}

func newLinks(links []types.Link) []hostconfig.Link {
	var out []hostconfig.Link
	for _, l := range links {
		link := hostconfig.Link{Entry: newEntry(l.Node), Hard: l.Hard != nil && *l.Hard}
		if l.Target != nil {
			link.Target = *l.Target
		}
		out = append(out, link)
	}
	return sorted(out, func(l hostconfig.Link) string { return l.Path })
}

// newFiles converts files. Contents of Secrets stay empty; the second result lists where they belong.
func newFiles(files []types.File, n *notes) ([]hostconfig.File, []SecretUse) {
	c := &converter{notes: n, left: MaxUnpacked}
	var out []hostconfig.File
	for i, f := range files {
		out = append(out, c.file(f, fmt.Sprintf("%s.storage.files[%d]", configField, i)))
	}
	byPath := func(a, b SecretUse) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Append, b.Append))
	}
	slices.SortFunc(c.secrets, byPath)
	return sorted(out, func(f hostconfig.File) string { return f.Path }), c.secrets
}

// converter converts files, and counts what is left of MaxUnpacked.
type converter struct {
	*notes
	left    int
	secrets []SecretUse
}

func (c *converter) file(f types.File, field string) hostconfig.File {
	out := hostconfig.File{Entry: newEntry(f.Node), Mode: newMode(f.Mode)}
	if f.Contents.Source != nil {
		// OpenShift's operator overwrites by default, unlike Ignition.
		out.Overwrite = f.Overwrite == nil || *f.Overwrite
		contents := c.contents(f.Contents, SecretUse{Field: field + ".contents", Path: f.Path, Append: -1})
		out.Contents = &contents
	}
	for i, resource := range f.Append {
		if resource.Source != nil {
			use := SecretUse{Field: fmt.Sprintf("%s.append[%d]", field, i), Path: f.Path, Append: len(out.Append)}
			out.Append = append(out.Append, c.contents(resource, use))
		}
	}
	return out
}

// contents returns what a resource contains; nothing for a reference to a Secret, which it records.
func (c *converter) contents(resource types.Resource, use SecretUse) []byte {
	if key, is := parseSecret(*resource.Source); is {
		use.SecretKey, use.resource = key, resource
		c.secrets = append(c.secrets, use)
		return []byte{}
	}
	data, err := decode(resource, c.left)
	switch {
	case errors.Is(err, errTooLarge):
		c.add(TooLarge, use.Field, "the unpacked contents of all files have more than %d bytes; put large files into the image of the machine", MaxUnpacked)
	case err != nil:
		c.invalid(use.Field, "%v", err)
	}
	c.left -= len(data)
	return data
}

func newMode(mode *int) *uint32 {
	if mode == nil {
		return nil
	}
	out := uint32(*mode)
	return &out
}

// sorted returns items sorted by a key.
func sorted[T any](items []T, key func(T) string) []T {
	slices.SortFunc(items, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return items
}
