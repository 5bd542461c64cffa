// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/opcrew/opcrew/internal/agents/shared/rewatch"
)

// Watch follows the Node until the context ends.
func (c *Client) Watch(ctx context.Context) {
	rewatch.Run(ctx, c.clock, c.watchOnce, func(err error) { c.log.Warn("The Node cannot be watched", "error", err.Error()) })
}

// watchOnce watches until the connection ends. A watch without a version begins with the Node as it is, so it needs no
// other call.
func (c *Client) watchOnce(ctx context.Context) (seen bool, err error) {
	events, err := c.nodes.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", c.server.Node).String(), AllowWatchBookmarks: true,
	})
	if err != nil {
		return false, err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Error {
			return seen, apierrors.FromObject(event.Object)
		}
		seen = c.handle(event) || seen
	}
	return seen, errors.New("the connection ended")
}

func (c *Client) handle(event watch.Event) bool {
	node, is := event.Object.(*metav1.PartialObjectMetadata)
	switch {
	case !is || node.Name != c.server.Node || event.Type == watch.Bookmark:
		return false
	case event.Type == watch.Deleted:
		node = nil
	}
	c.learn(node)
	return true
}

// learn keeps a state of the Node, unless a newer one is known. Heartbeats change no annotation.
func (c *Client) learn(node *metav1.PartialObjectMetadata) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	old := c.node
	if old != nil && node != nil && old.UID == node.UID && isOlder(node, old) {
		return
	}
	c.node = node
	if old != nil && node != nil && old.UID == node.UID && maps.Equal(old.Annotations, node.Annotations) {
		return
	}
	select {
	case c.Changed <- struct{}{}:
	default: // a report is already waiting
	}
}

func isOlder(a, b *metav1.PartialObjectMetadata) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order < 0
}
