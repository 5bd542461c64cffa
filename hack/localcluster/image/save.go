// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Save writes the image with its tags as a tar for `ctr images import` and `docker load`. The file is written
// completely or not at all.
func Save(image v1.Image, tags []string, output string) error {
	if err := checkTags(tags); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return fmt.Errorf("create the folder of %s: %w", output, err)
	}
	partial, err := os.CreateTemp(filepath.Dir(output), "."+filepath.Base(output)+"-")
	if err != nil {
		return fmt.Errorf("save the image: %w", err)
	}
	defer os.Remove(partial.Name())
	defer partial.Close()
	if err := writeArchive(image, tags, partial); err != nil {
		return fmt.Errorf("save the image as %s: %w", output, err)
	}
	if err := partial.Chmod(0o644); err != nil {
		return fmt.Errorf("save the image as %s: %w", output, err)
	}
	return os.Rename(partial.Name(), output)
}

// checkTags refuses tags that a container runtime would refuse, and names without a tag. A runtime would complete such
// a name with "latest", and the kubelet always pulls "latest".
func checkTags(tags []string) error {
	if len(tags) == 0 {
		return fmt.Errorf("an image needs at least one tag")
	}
	for _, tag := range tags {
		if _, err := target(tag); err != nil {
			return fmt.Errorf("tag %q: %w", tag, err)
		}
	}
	return nil
}

// writeArchive writes the config, the layers and the manifest in a fixed order. The library's own writer writes tags in
// random order.
func writeArchive(image v1.Image, tags []string, w io.Writer) error {
	out := tar.NewWriter(w)
	configName, err := image.ConfigName()
	if err != nil {
		return err
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return err
	}
	if err := addMember(out, configName.String(), int64(len(config)), bytes.NewReader(config)); err != nil {
		return err
	}
	layers, err := writeLayers(image, out)
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(tarball.Manifest{{
		Config:   configName.String(),
		RepoTags: slices.Sorted(slices.Values(tags)),
		Layers:   layers,
	}})
	if err != nil {
		return err
	}
	if err := addMember(out, "manifest.json", int64(len(manifest)), bytes.NewReader(manifest)); err != nil {
		return err
	}
	return out.Close()
}

// writeLayers writes the layers and returns the names of their files in the archive.
func writeLayers(image v1.Image, out *tar.Writer) ([]string, error) {
	layers, err := image.Layers()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, layer := range layers {
		member, err := writeLayer(layer, out)
		if err != nil {
			return nil, err
		}
		names = append(names, member)
	}
	return names, nil
}

func writeLayer(layer v1.Layer, out *tar.Writer) (string, error) {
	digest, err := layer.Digest()
	if err != nil {
		return "", err
	}
	size, err := layer.Size()
	if err != nil {
		return "", err
	}
	content, err := layer.Compressed()
	if err != nil {
		return "", err
	}
	defer content.Close()
	member := digest.Hex + ".tar.gz"
	return member, addMember(out, member, size, content)
}

func addMember(out *tar.Writer, member string, size int64, content io.Reader) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: member, Size: size, Mode: 0o644}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(out, content)
	return err
}

// manifestOf reads the manifest of a saved image.
func manifestOf(file string) (tarball.Descriptor, error) {
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil {
		return tarball.Descriptor{}, fmt.Errorf("read the image %s: %w", file, err)
	}
	if len(manifest) != 1 {
		return tarball.Descriptor{}, fmt.Errorf("%s contains %d images instead of one", file, len(manifest))
	}
	return manifest[0], nil
}
