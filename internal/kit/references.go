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

// references watches the metadata of Secrets with the label common.WatchLabel. Users set this label on Secrets to which
// their objects refer. Other Secrets are not watched, because a process must not hold all Secrets of a cluster. The
// content of a Secret is read by name when it is needed.
type references struct {
	mu    sync.Mutex
	cache cache.Cache // created when the first kind needs it; nil before
}

// WatchedSecrets returns an event source for Secrets with the label common.WatchLabel. wake maps a Secret to reconcile
// requests for the objects that refer to this Secret.
func (t *Tools) WatchedSecrets(mgr ctrl.Manager, wake handler.MapFunc) (source.Source, error) {
	t.references.mu.Lock()
	defer t.references.mu.Unlock()
	if t.references.cache == nil {
		if err := t.references.begin(mgr, t.Namespaces); err != nil {
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

func (r *references) begin(mgr ctrl.Manager, namespaces []string) error {
	opts := cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), NewInformer: newInformer,
		DefaultNamespaces: inNamespaces(namespaces),
		ByObject: map[client.Object]cache.ByObject{
			secretMetadata(): {Label: labels.SelectorFromSet(labels.Set{common.WatchLabel: "true"})},
		},
	}
	var err error
	if r.cache, err = cache.New(mgr.GetConfig(), opts); err != nil {
		return fmt.Errorf("create the cache of watched Secrets: %w", err)
	}
	return mgr.Add(&earlyCache{r.cache})
}

// earlyCache is a cache that the manager starts together with its own cache, before the controllers start.
type earlyCache struct{ cache.Cache }

// GetCache marks earlyCache as a cache: the manager starts every type that has this method before the controllers.
func (c *earlyCache) GetCache() cache.Cache { return c.Cache }
