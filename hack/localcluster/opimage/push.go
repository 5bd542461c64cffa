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

// Where images go.
const (
	// ToAuto is the local cluster for names that are Local, and the registry for all others.
	ToAuto     = "auto"
	ToRegistry = "registry"
	ToLocal    = "local"
)

// Pusher sends the three images to where they are used.
type Pusher struct {
	// To is ToAuto, ToRegistry or ToLocal.
	To string
	// Load puts saved images on the nodes of the local cluster.
	Load func(ctx context.Context, files []string) error
	// Out takes a line for each image that was pushed.
	Out io.Writer
	// Remote are options of the connection to the registry.
	Remote []remote.Option
}

// Push sends the images that Build saved in bin. It checks all of them before it sends
// the first: each must have been built under the name that it is pushed by.
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

// send returns the digests of what went to a registry, as names.
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
