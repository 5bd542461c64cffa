// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"net"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// The layers of the platform, from the machines up. Each has a Deployment and a ServiceAccount of its own, so
// that what may touch nodes cannot read databases.
const (
	Machines     = "machines"
	Applications = "applications"
	Data         = "data"
)

// Registration is one entry in the list of kinds that the binary serves.
type Registration struct {
	// Name is the kind in lower case, as --kinds takes it.
	Name string
	// Layer is the Deployment that it runs in.
	Layer string
	// CRDs are the names of the definitions that it needs.
	CRDs []string
	// Optional are types that it uses in clusters that have them, such as HTTPRoute: an empty object by the name
	// of its CRD. The objects that opcrew created are cached.
	Optional map[string]client.Object
	// Outside says what differs or is not possible while the process runs outside of the cluster; empty:
	// nothing.
	Outside string
	// AddToScheme registers the types that it reads and writes.
	AddToScheme func(*runtime.Scheme) error
	// Cache returns what is cached of each type.
	Cache func() map[client.Object]cache.ByObject
	// Setup adds its reconcilers to the manager.
	Setup func(mgr ctrl.Manager, tools *Tools) error
}

// Tools are what the loop and the kinds work with; one set serves all kinds.
type Tools struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server, for steps that must not depend on a stale view.
	Live client.Reader
	// Children writes children.
	Children *ensure.Applier
	// Events writes events on transitions.
	Events events.EventRecorder
	// Registry is where a kind registers its own metrics.
	Registry metrics.RegistererGatherer
	// Clock is the time for decisions.
	Clock clock.WithTicker
	// AgentImage is the image of the programs in pods, BackupImage that of the program that saves and restores etcd.
	AgentImage, BackupImage string
	// RedisImage is the image of Redis or Valkey for clusters that name none.
	RedisImage string
	// DialPod connects to a pod, by a name of the cluster's DNS or an address; nil: over the network of the
	// process.
	DialPod func(ctx context.Context, network, address string) (net.Conn, error)
	// Namespace is the one that the operator is deployed in.
	Namespace string
	// Namespaces are those that the process serves; empty: all.
	Namespaces []string
	// Installed reports which CRDs of optional types are installed.
	Installed map[string]bool

	metrics    *sharedMetrics
	references references
}

// Register registers the metrics that all kinds share, and limits the events by which they are spared. The
// manager calls it once, before any loop runs.
func (t *Tools) Register() error {
	m, err := newMetrics(t.Registry)
	if err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	t.metrics = m
	t.Events = &sparingRecorder{EventRecorder: t.Events, clock: t.Clock, leftOut: m.leftOut}
	return nil
}
