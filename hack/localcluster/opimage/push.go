// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/opcrew/opcrew/hack/localcluster/image"
)

// Values of the Makefile variable PUSH, which say where images are sent.
const (
	// ToAuto loads an image into the local cluster's nodes if Local returns true for its name. Otherwise, it pushes the
	// image to its registry.
	ToAuto     = "auto"
	ToRegistry = "registry"
	ToLocal    = "local"
)

// Pusher sends opcrew's three images (operator, agent and backup) to registries, or to the nodes of the local cluster.
type Pusher struct {
	// To is ToAuto, ToRegistry or ToLocal.
	To string
	// Load loads saved images into the local cluster's nodes.
	Load func(ctx context.Context, files []string) error
	// Out gets one line for each pushed image.
	Out io.Writer
	// Remote holds options for the connection to the registry.
	Remote []remote.Option
	// Manifests is a file with the default image names. Push writes a copy to Install, with the digests of the pushed
	// images. If both are empty, Push writes no copy.
	Manifests, Install string
}

// Push sends the images that Build saved in bin. Before it sends the first one, it checks that each image was built
// under the name that is pushed.
func (p Pusher) Push(ctx context.Context, images Images, bin string) error {
	if !slices.Contains([]string{ToAuto, ToRegistry, ToLocal}, p.To) {
		return fmt.Errorf("PUSH=%s: use %s, %s or %s", p.To, ToAuto, ToRegistry, ToLocal)
	}
	if err := images.Buildable(); err != nil {
		return err
	}
	for _, part := range images.list() {
		if err := image.Holds(part.tar(bin), part.name); err != nil {
			return fmt.Errorf("%w: run make docker-build with the same %s, %s and %s first", err, operatorVariable, agentVariable, backupVariable)
		}
	}
	pushed, err := p.send(ctx, images, bin)
	if err != nil {
		return err
	}
	if err := keepDigests(bin, images, pushed); err != nil {
		return err
	}
	return p.install(images.byDigest(pushed))
}

// install writes the manifests with digests. It does nothing if an image was loaded into the local cluster and so has
// no digest.
func (p Pusher) install(images Images) error {
	if slices.ContainsFunc(images.list(), func(p part) bool { return !strings.Contains(p.name, "@") }) {
		return nil
	}
	fmt.Fprintf(p.Out, "to deploy exactly these images: make deploy %s=%s %s=%s %s=%s\n",
		operatorVariable, images.Operator, agentVariable, images.Agent, backupVariable, images.Backup)
	if p.Install == "" {
		return nil
	}
	if err := images.writeInstall(p.Manifests, p.Install); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "wrote manifests with these images to %s; to apply them: kubectl apply --server-side -f %s\n", p.Install, p.Install)
	return nil
}

// send pushes or loads the images. For each pushed image, it maps the name under which it was pushed to the name with
// its digest.
func (p Pusher) send(ctx context.Context, images Images, bin string) (map[string]string, error) {
	pushed, local := map[string]string{}, []string{}
	for _, part := range images.list() {
		if p.local(part.name) {
			local = append(local, part.tar(bin))
			continue
		}
		digest, err := image.Push(ctx, part.tar(bin), part.name, p.Remote...)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(p.Out, "pushed %s\n  digest %s\n", part.name, digest)
		pushed[part.name] = digest
	}
	if len(local) == 0 {
		return pushed, nil
	}
	if err := p.Load(ctx, local); err != nil {
		return nil, fmt.Errorf("load %s and the other images into the local cluster: %w; start the cluster with make up, or name a registry: %s=registry.example.com/opcrew:v1",
			images.Operator, err, operatorVariable)
	}
	return pushed, nil
}

func (p Pusher) local(name string) bool {
	return p.To == ToLocal || p.To == ToAuto && Local(name)
}
