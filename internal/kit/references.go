// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/opcrew/opcrew/api/common"
)

// references follows the Secrets of users that carry common.WatchLabel. Only those, and of
// them the metadata: a process should not hold every Secret of a cluster, and what is in
// one that an object refers to is read by name.
type references struct {
	namespaces []string

	mu    sync.Mutex
	cache cache.Cache // nil: no one asked for it yet
}

// WatchedSecrets is a source of the events of users' Secrets that carry common.WatchLabel.
// wake maps one to the objects that refer to it.
func (t *Tools) WatchedSecrets(mgr ctrl.Manager, wake handler.MapFunc) (source.Source, error) {
	t.references.mu.Lock()
	defer t.references.mu.Unlock()
	if t.references.cache == nil {
		if err := t.references.begin(mgr); err != nil {
			return nil, err
		}
	}
	return source.Kind[client.Object](t.references.cache, secretMetadata(), handler.EnqueueRequestsFromMapFunc(wake)), nil
}

func secretMetadata() *metav1.PartialObjectMetadata {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return secret
}

func (r *references) begin(mgr ctrl.Manager) error {
	opts := cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), NewInformer: newInformer,
		DefaultNamespaces: inNamespaces(r.namespaces),
		ByObject: map[client.Object]cache.ByObject{
			secretMetadata(): {Label: labels.SelectorFromSet(labels.Set{common.WatchLabel: "true"})},
		},
	}
	var err error
	if r.cache, err = cache.New(mgr.GetConfig(), opts); err != nil {
		return fmt.Errorf("cache of Secrets that are followed: %w", err)
	}
	return mgr.Add(&begunEarly{r.cache})
}

// begunEarly has the manager start a cache of ours with its own, before the controllers.
type begunEarly struct{ cache.Cache }

// GetCache is by what the manager knows it.
func (c *begunEarly) GetCache() cache.Cache { return c.Cache }
