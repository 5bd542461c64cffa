// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// defaultPath is the usual PATH in images of distributions. With it, containers find commands by name.
const defaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Config describes how a container of an image runs unless its pod overrides the settings.
type Config struct {
	Entrypoint []string          `json:"entrypoint,omitempty"`
	Cmd        []string          `json:"cmd,omitempty"`
	Env        []string          `json:"env,omitempty"`
	User       string            `json:"user,omitempty"`
	WorkingDir string            `json:"workingDir,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	// StopSignal is the signal that asks the program to stop. Empty means SIGTERM.
	StopSignal string `json:"stopSignal,omitempty"`
}

// Build builds an image with one layer.
func Build(tree *Tree, config Config) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(tree.opener(),
		tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("create the layer: %w", err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("append the layer: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the image's config: %w", err)
	}
	image, err = mutate.ConfigFile(image, config.file(file.DeepCopy()))
	if err != nil {
		return nil, fmt.Errorf("set the image's config: %w", err)
	}
	return image, nil
}

// file copies the settings into the image's config file. All times are zero, so that the same content always has the
// same digest.
func (c Config) file(file *v1.ConfigFile) *v1.ConfigFile {
	file.OS = "linux"
	file.Architecture = runtime.GOARCH
	file.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	file.Config = v1.Config{
		Entrypoint: c.Entrypoint,
		Cmd:        c.Cmd,
		Env:        append([]string{defaultPath}, c.Env...),
		User:       c.User,
		WorkingDir: c.WorkingDir,
		Labels:     c.Labels,
		StopSignal: c.StopSignal,
	}
	return file
}

// opener streams the tree as a tar, so that memory never holds a large binary twice.
func (t *Tree) opener() tarball.Opener {
	return func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(t.WriteTar(writer)) }()
		return reader, nil
	}
}
