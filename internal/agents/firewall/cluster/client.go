// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

const (
	// callTime is how long one call may take.
	callTime = 20 * time.Second
	// contactTime is how long the API server may take to answer when the agent measures its contact.
	contactTime = 3 * time.Second
)

// Client is the client of one agent.
type Client struct {
	// Changed receives a value after documents have changed.
	Changed chan struct{}

	node   string
	config *rest.Config
	core   rest.Interface
	clock  clock.WithTicker
	log    *slog.Logger

	mutex   sync.Mutex
	known   bool
	maps    map[string]string // the documents by the name of their ConfigMap
	version string            // where the watch continues
}

// New returns a client with the credentials of the pod.
func New(config *rest.Config, node string, clock clock.WithTicker, log *slog.Logger) (*Client, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	core := rest.CopyConfig(config)
	core.APIPath, core.GroupVersion = "/api", &corev1.SchemeGroupVersion
	core.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(core)
	if err != nil {
		return nil, fmt.Errorf("use the credentials of the pod: %w", err)
	}
	return &Client{Changed: make(chan struct{}, 1), node: node, config: config, core: client, clock: clock, log: log, maps: map[string]string{}}, nil
}

// Reaches reports whether the API server answers on a new connection: a firewall keeps existing ones alive. Its own
// errors are no answer, because a load balancer answers so while no API server does.
func (c *Client) Reaches(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, contactTime)
	defer cancel()
	address, err := url.JoinPath(c.config.Host, "/version")
	if err != nil {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false
	}
	settings, err := rest.TLSConfigFor(c.config)
	if err != nil {
		return false
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: settings, DialContext: c.config.Dial}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode < http.StatusInternalServerError
}

// Report writes the annotation with the report; an empty text removes it.
func (c *Client) Report(ctx context.Context, text string) error {
	value := &text
	if text == "" {
		value = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]*string{nodefirewall.ReportAnnotation: value}}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err = c.core.Patch(types.MergePatchType).Resource("nodes").Name(c.node).Param("fieldManager", nodefirewall.Name).Body(patch).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("write the report of the firewall on Node %s: %w", c.node, err)
	}
	return nil
}
