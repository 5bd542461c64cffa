// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Catalog reports whether the API server serves a kind.
type Catalog interface {
	Serves(ctx context.Context, kind schema.GroupVersionKind) (bool, error)
}

// NewCatalog returns a Catalog that asks the API server each time.
func NewCatalog(config *rest.Config) (Catalog, error) {
	client, err := discovery.NewDiscoveryClientForConfig(limitsOf(config))
	if err != nil {
		return nil, fmt.Errorf("create the discovery client for machines: %w", err)
	}
	return catalog{client}, nil
}

type catalog struct {
	discovery.ServerResourcesInterfaceWithContext
}

func (c catalog) Serves(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	list, err := c.ServerResourcesForGroupVersionWithContext(ctx, kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind }), nil
}

// removed reports whether an error means that the CRD of a kind was removed. The RESTMapper still knows the kind then,
// so the request reaches the API server: it answers that the path does not exist, or first that the right is missing.
func (a *api) removed(ctx context.Context, kind schema.GroupVersionKind, err error) bool {
	switch {
	case apierrors.IsNotFound(err):
		return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	case !apierrors.IsForbidden(err):
		return false
	}
	served, err := a.catalog.Serves(ctx, kind)
	return err == nil && !served
}
