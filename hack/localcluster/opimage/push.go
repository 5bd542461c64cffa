// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/opcrew/opcrew/hack/localcluster/image"
)

// Destinations of images.
const (
	// ToAuto sends images with a Local name to the local cluster, and all others to their registry.
	ToAuto     = "auto"
	ToRegistry = "registry"
	ToLocal    = "local"
)

// Pusher sends the three images to their destination.
type Pusher struct {
	// To is ToAuto, ToRegistry or ToLocal.
	To string
	// Load loads saved images into the nodes of the local cluster.
	Load func(ctx context.Context, files []string) error
	// Out gets one line for each pushed image.
	Out io.Writer
	// Remote holds options for the connection to the registry.
	Remote []remote.Option
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
	if err == nil && len(pushed) == 3 {
		fmt.Fprintf(p.Out, "to deploy exactly these: make deploy %s=%s %s=%s %s=%s\n",
			operatorVariable, pushed[0], agentVariable, pushed[1], backupVariable, pushed[2])
	}
	return err
}

// send sends the images, and returns the names by digest of those that were sent to a registry.
func (p Pusher) send(ctx context.Context, images Images, bin string) (pushed []string, err error) {
	var local []string
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
		pushed = append(pushed, digest)
	}
	if len(local) == 0 {
		return pushed, nil
	}
	if err := p.Load(ctx, local); err != nil {
		return nil, fmt.Errorf("load %s and the images beside it into the local cluster: %w; start it with make up, or name a registry: %s=registry.example.com/opcrew:v1",
			images.Operator, err, operatorVariable)
	}
	return pushed, nil
}

func (p Pusher) local(name string) bool {
	return p.To == ToLocal || p.To == ToAuto && Local(name)
}
