// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// layout is the version of the code that builds images. Increment it whenever that code changes, so that the cache
// ignores images that an older program built.
const layout = 1

// Cache stores built images under a hash of their input. If its folder is removed, the images are built again.
type Cache struct {
	Dir string
}

// Recipe returns the path of a Debian image's tar, and builds it if it does not exist.
func (c Cache) Recipe(ctx context.Context, recipe Recipe) (string, error) {
	return c.Source(ctx, recipe.Source())
}

// Source returns the path of a catalogue image's tar, and builds it if it does not exist.
func (c Cache) Source(ctx context.Context, source Source) (string, error) {
	key, err := hashOf(source.content)
	if err != nil {
		return "", err
	}
	return c.get(source.Name, key, func(output string) error {
		return source.write(ctx, c.Dir, output)
	})
}

// Built returns the path of a catalogue image's tar, or "" if it does not exist.
func (c Cache) Built(source Source) (string, error) {
	key, err := hashOf(source.content)
	if err != nil {
		return "", err
	}
	output := c.file(source.Name, key)
	if _, err := os.Stat(output); err != nil {
		return "", nil //nolint:nilerr // build the image again if its file is missing or cannot be read
	}
	return output, nil
}

// Binary returns the path of a binary image's tar, and builds it if a binary has changed.
func (c Cache) Binary(image BinaryImage) (string, error) {
	key, err := hashOf(image, image.sources()...)
	if err != nil {
		return "", err
	}
	name, _ := splitBinary(image.Binaries[0])
	return c.get(filepath.Base(name), key, image.Write)
}

// get returns the path of an image's tar, and builds it if it does not exist. Two processes may build the same image at
// the same time, but they produce the same file.
func (c Cache) get(name, key string, build func(output string) error) (string, error) {
	output := c.file(name, key)
	if _, err := os.Stat(output); err == nil {
		return output, nil
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return "", fmt.Errorf("create the folder of the image cache: %w", err)
	}
	return output, build(output)
}

func (c Cache) file(name, key string) string {
	return filepath.Join(c.Dir, name+"-"+key[:16]+".tar")
}

func (b BinaryImage) sources() []string {
	var sources []string
	for _, binary := range b.Binaries {
		source, _ := splitBinary(binary)
		sources = append(sources, source)
	}
	return sources
}

// hashOf returns a hash of the description of an image and of the content of its files.
func hashOf(description any, files ...string) (string, error) {
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode([]any{layout, description}); err != nil {
		return "", fmt.Errorf("hash an image's description: %w", err)
	}
	for _, file := range files {
		if err := hashFile(hash, file); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func hashFile(hash io.Writer, file string) error {
	reader, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the files of an image: %w", err)
	}
	defer reader.Close()
	_, err = io.Copy(hash, reader)
	return err
}
