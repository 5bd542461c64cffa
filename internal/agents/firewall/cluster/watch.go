// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/opcrew/opcrew/internal/agents/shared/rewatch"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Documents returns the rules of pools and the addresses of nodes; false until they have been read.
func (c *Client) Documents() (pools map[string]string, nodes string, known bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	pools = map[string]string{}
	for name, text := range c.maps {
		if pool, is := strings.CutPrefix(name, nodefirewall.PoolMap("")); is {
			pools[pool] = text
		}
	}
	return pools, c.maps[nodefirewall.NodesMap], c.known
}

// Watch follows the ConfigMaps until the context ends.
func (c *Client) Watch(ctx context.Context) {
	rewatch.Run(ctx, c.clock, c.watchOnce, func(err error) { c.log.Warn("The rules cannot be watched", "error", err.Error()) })
}

// watchOnce reads all ConfigMaps if it must, and watches until the connection ends.
func (c *Client) watchOnce(ctx context.Context) (seen bool, err error) {
	if c.version == "" {
		if err := c.list(ctx); err != nil {
			return false, err
		}
		seen = true
	}
	events, err := c.core.Get().Namespace(nodefirewall.Namespace).Resource("configmaps").VersionedParams(&metav1.ListOptions{
		Watch: true, LabelSelector: nodefirewall.Label, AllowWatchBookmarks: true, ResourceVersion: c.version,
	}, scheme.ParameterCodec).Watch(ctx)
	if err != nil {
		return seen, c.expired(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Error {
			return seen, c.expired(apierrors.FromObject(event.Object))
		}
		seen = true
		c.handle(event)
	}
	return seen, errors.New("the connection ended")
}

// expired makes the next watch begin with all ConfigMaps, if the API server has forgotten the version.
func (c *Client) expired(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		c.version = ""
	}
	return err
}

func (c *Client) list(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	list := &corev1.ConfigMapList{}
	err := c.core.Get().Namespace(nodefirewall.Namespace).Resource("configmaps").VersionedParams(
		&metav1.ListOptions{LabelSelector: nodefirewall.Label, ResourceVersion: "0"}, scheme.ParameterCodec).Do(ctx).Into(list)
	if err != nil {
		return err
	}
	found := map[string]string{}
	for i := range list.Items {
		found[list.Items[i].Name] = list.Items[i].Data[nodefirewall.Key]
	}
	c.version = list.ResourceVersion
	c.learn(func(map[string]string) map[string]string { return found })
	return nil
}

func (c *Client) handle(event watch.Event) {
	object, is := event.Object.(*corev1.ConfigMap)
	if !is {
		return
	}
	c.version = object.ResourceVersion
	switch event.Type {
	case watch.Added, watch.Modified:
		c.learn(func(all map[string]string) map[string]string {
			all[object.Name] = object.Data[nodefirewall.Key]
			return all
		})
	case watch.Deleted:
		c.learn(func(all map[string]string) map[string]string { delete(all, object.Name); return all })
	}
}

// learn changes what is known, and wakes the agent if there is a difference.
func (c *Client) learn(change func(map[string]string) map[string]string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	before, was := maps.Clone(c.maps), c.known
	c.maps, c.known = change(c.maps), true
	if was && maps.Equal(before, c.maps) {
		return
	}
	select {
	case c.Changed <- struct{}{}:
	default: // a report is already waiting
	}
}
