// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	// secretPathsKey is the key of a delivered Secret with the paths whose contents come from Secrets of users.
	secretPathsKey = "secret-paths"
	// mostConfigs is how many parsed configurations the process remembers.
	mostConfigs = 64
)

// configs reads delivered configurations. Their names contain the hash of their content, so they never change.
type configs struct {
	reader client.Reader
	mutex  sync.Mutex
	parsed map[string]*orders.Config
}

func newConfigs(reader client.Reader) *configs {
	return &configs{reader: reader, parsed: map[string]*orders.Config{}}
}

// load returns configurations by name. A configuration that does not exist is left out.
func (c *configs) load(ctx context.Context, names ...string) (map[string]*orders.Config, error) {
	out := map[string]*orders.Config{}
	for _, name := range names {
		config, err := c.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if config != nil {
			out[name] = config
		}
	}
	return out, nil
}

// get returns a configuration; nil if it does not exist or cannot be read. A host without a configuration has the empty
// one.
func (c *configs) get(ctx context.Context, name string) (*orders.Config, error) {
	if name == "" || name == machineorder.None {
		return &orders.Config{}, nil
	}
	if config := c.known(name); config != nil {
		return config, nil
	}
	secret := &corev1.Secret{}
	err := c.reader.Get(ctx, client.ObjectKey{Namespace: machineorder.Namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", name, err)
	}
	config := parseConfig(secret)
	if config == nil || config.Name != name {
		return nil, nil
	}
	c.remember(name, config)
	return config, nil
}

func parseConfig(secret *corev1.Secret) *orders.Config {
	encoded := secret.Data[machineorder.SecretKey]
	config, err := hostconfig.Parse(encoded)
	if err != nil {
		return nil
	}
	out := &orders.Config{Config: config, Digest: hostconfig.Digest(encoded), Secret: map[string]bool{}}
	for path := range strings.SplitSeq(string(secret.Data[secretPathsKey]), "\n") {
		out.Secret[path] = true
	}
	return out
}

func (c *configs) known(name string) *orders.Config {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.parsed[name]
}

func (c *configs) remember(name string, config *orders.Config) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.parsed) >= mostConfigs {
		clear(c.parsed)
	}
	c.parsed[name] = config
}
