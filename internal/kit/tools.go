// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// Layer is a part of the platform. Each has a Deployment and a ServiceAccount of its
// own, so that what may touch nodes cannot read databases.
type Layer string

// The layers, from the machines up.
const (
	Machines     Layer = "machines"
	Applications Layer = "applications"
	Data         Layer = "data"
)

// Kind is one entry in the list of kinds that the binary serves.
type Kind struct {
	// Name is the kind in lower case, as --kinds takes it.
	Name string
	// Layer is the Deployment that it runs in.
	Layer Layer
	// CRDs are the names of the definitions that it cannot do without.
	CRDs []string
	// Optional are types of others that it uses where they are installed.
	Optional []Optional
	// Outside says what is different or not possible while the process runs outside of the
	// cluster; "" where nothing is.
	Outside string
	// AddToScheme registers the types that it reads and writes.
	AddToScheme func(*runtime.Scheme) error
	// Cache says what of each type is cached.
	Cache func() map[client.Object]cache.ByObject
	// Setup adds its reconcilers to the manager.
	Setup func(mgr ctrl.Manager, tools *Tools) error
}

// Optional is a type that not every cluster has, such as those of Gateway API.
type Optional struct {
	// CRD is the name of its definition.
	CRD string
	// Object is one of the type, and Cache what of it is cached.
	Object client.Object
	Cache  cache.ByObject
}

// Tools are what the loop and the kinds work with; one set serves all kinds.
type Tools struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server, before steps that must not rest on an old view.
	Live client.Reader
	// Children puts children in place.
	Children *ensure.Applier
	// Events tells users of transitions.
	Events events.EventRecorder
	// Metrics are the shared ones; a kind registers its own in Registry.
	Metrics  *Metrics
	Registry metrics.RegistererGatherer
	// Clock is the time that decisions rest on.
	Clock clock.WithTicker
	// HelperImage is that of the in-pod helper, BackupImage that of what saves and restores etcd.
	HelperImage, BackupImage string
	// RedisImage is that of Redis or Valkey for clusters that name none.
	RedisImage string
	// DialPod connects to a pod, by a name of the cluster's DNS or an address; nil: over the
	// network of the process.
	DialPod func(ctx context.Context, network, address string) (net.Conn, error)
	// Installed says which CRDs of optional types there are.
	Installed map[string]bool

	references references
}

// NewTools takes the tools from a manager.
func NewTools(mgr ctrl.Manager, registry metrics.RegistererGatherer, clock clock.WithTicker) (*Tools, error) {
	m, err := NewMetrics(registry)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return &Tools{
		Client:   mgr.GetClient(),
		Live:     mgr.GetAPIReader(),
		Children: ensure.NewApplier(mgr.GetClient(), mgr.GetAPIReader(), clock),
		Events:   &sparingRecorder{EventRecorder: mgr.GetEventRecorder(common.Name), clock: clock, leftOut: m.leftOut},
		Metrics:  m,
		Registry: registry,
		Clock:    clock,
	}, nil
}

// Writes is the memory of our own writes that the cache has not seen yet.
func (t *Tools) Writes() *ensure.Writes { return t.Children.Writes }

// Limited reports whether the process serves some namespaces only, and so may not see all objects.
func (t *Tools) Limited() bool { return len(t.references.namespaces) > 0 }

// Serves reports whether the process serves a namespace.
func (t *Tools) Serves(namespace string) bool {
	return !t.Limited() || slices.Contains(t.references.namespaces, namespace)
}

// ControllerOptions are those of every controller: so many workers, and a backoff from
// 50 ms to one minute an object, so that a lifted refusal is noticed within a minute.
func ControllerOptions(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, time.Minute),
	}
}
