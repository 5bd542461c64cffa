// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/image"
)

// Prepared returns the names of the images for pods, for an operator that runs outside the cluster. It builds local
// images from the programs in bin, and loads them under a tag that changes with their content. All other images must
// already be in their registry.
func (i Images) Prepared(ctx context.Context, bin string, load func(context.Context, []string) error, log io.Writer) (Images, error) {
	var files []string
	for _, of := range []struct {
		name *string
		part part
	}{{&i.Agent, i.list()[1]}, {&i.Backup, i.list()[2]}} {
		if !Local(*of.name) {
			continue
		}
		renamed, err := of.part.buildByContent(bin)
		if err != nil {
			return Images{}, err
		}
		*of.name = renamed
		files = append(files, of.part.tar(bin))
	}
	if len(files) == 0 {
		return i, nil
	}
	if err := load(ctx, files); err != nil {
		fmt.Fprintf(log, "No node has the images %s and %s, so pods that need them cannot start (%v). Start the local cluster with make up, "+
			"or use a registry: make docker-build docker-push run %s=registry.example.com/opcrew:v1\n", i.Agent, i.Backup, err, operatorVariable)
	}
	return i, nil
}

// buildByContent builds the image under a tag that it derives from the content of its programs. New content gets a new tag,
// because opcrew could not see that an image with an unchanged tag is a new one.
func (p part) buildByContent(bin string) (name string, err error) {
	sum := sha256.New()
	for _, program := range p.programs() {
		content, err := os.ReadFile(filepath.Join(bin, program))
		if err != nil {
			return "", fmt.Errorf("build %s: %w", p.name, err)
		}
		sum.Write(content)
	}
	path, _, _ := strings.Cut(p.name, ":")
	p.name = path + ":dev-" + hex.EncodeToString(sum.Sum(nil)[:6])
	return p.name, p.build(bin)
}

// build builds the image from its programs in bin, and saves it there.
func (p part) build(bin string) error {
	var binaries []string
	for _, program := range p.programs() {
		binaries = append(binaries, filepath.Join(bin, program)+"=/"+program)
	}
	made := image.BinaryImage{
		Tags:         []string{p.name},
		Binaries:     binaries,
		Certificates: p.certificates,
		Config:       image.Config{Entrypoint: []string{"/" + p.program}, User: "65532:65532"},
	}
	if err := made.Write(p.tar(bin)); err != nil {
		return fmt.Errorf("build %s: %w", p.name, err)
	}
	return nil
}
