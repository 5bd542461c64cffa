// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// callTime is how long one call may take.
const callTime = 20 * time.Second

// Client is the client of one machine agent.
type Client struct {
	// Changed receives a value after the annotations of the Node have changed.
	Changed chan struct{}

	server Server
	token  string // the path of the file
	nodes  metadata.Getter
	core   rest.Interface
	clock  clock.WithTicker
	log    *slog.Logger

	mutex sync.Mutex
	node  *metav1.PartialObjectMetadata
}

// New returns a client that uses the credentials in a directory.
func New(dir string, clock clock.WithTicker, log *slog.Logger) (*Client, error) {
	server, err := Load(dir)
	if err != nil {
		return nil, err
	}
	return newClient(server, filepath.Join(dir, TokenFile), clock, log)
}

func newClient(server Server, token string, clock clock.WithTicker, log *slog.Logger) (*Client, error) {
	config := server.config(token)
	nodes, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("use the credentials: %w", err)
	}
	core, err := coreClient(config)
	if err != nil {
		return nil, fmt.Errorf("use the credentials: %w", err)
	}
	return &Client{
		Changed: make(chan struct{}, 1), server: server, token: token,
		nodes: nodes.Resource(corev1.SchemeGroupVersion.WithResource("nodes")), core: core, clock: clock, log: log,
	}, nil
}

// coreClient knows only the few types that the agent needs, so that the program stays small.
func coreClient(config *rest.Config) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(authenticationv1.AddToScheme(scheme))
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(config)
}

// Annotations returns the annotations of the Node as they were seen last; nil if the Node has not been seen.
func (c *Client) Annotations() map[string]string {
	node := c.seen()
	if node == nil {
		return nil
	}
	out := maps.Clone(node.Annotations)
	if out == nil {
		out = map[string]string{}
	}
	return out
}

func (c *Client) seen() *metav1.PartialObjectMetadata {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.node
}
