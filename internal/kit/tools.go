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

// The kinds are divided into layers, from machines at the bottom upwards. Each layer runs in its own Deployment with
// its own ServiceAccount. A process that may change nodes therefore cannot read the data of databases.
const (
	Machines     = "machines"
	Applications = "applications"
	Data         = "data"
)

// Registration describes one kind that the binary can serve.
type Registration struct {
	// Name is the kind in lower case, as flag --kinds accepts it.
	Name string
	// Layer is the group of kinds (machines, applications or data) that one Deployment serves.
	Layer string
	// CRDs lists the names of the CRDs that must be installed for the kind.
	CRDs []string
	// OptIn is set if the CRDs are not part of the installation. The process then does not report that they are missing,
	// and restarts when they are installed.
	OptIn bool
	// Optional maps CRD names to empty objects of types that the kind uses only if the cluster has them, such as
	// HTTPRoute. The cache holds the objects of these types that opcrew created.
	Optional map[string]client.Object
	// Peers is like Optional, for the types of other kinds. They count as installed if all CRDs of their API group in this
	// map are those of opcrew. Where the process serves the other kind too, the cache holds what that kind declares.
	Peers map[string]client.Object
	// Outside describes the limits of the kind while the process runs outside the cluster; "" if there are none.
	Outside string
	// AddToScheme registers the types that the kind reads and writes.
	AddToScheme func(*runtime.Scheme) error
	// Cache returns the cache options for each type that the kind reads.
	Cache func() map[client.Object]cache.ByObject
	// Setup adds the reconcilers of the kind to the manager.
	Setup func(mgr ctrl.Manager, tools *Tools) error
}

// Tools are the clients and services that the loop and the kinds use. All kinds of a process share them.
type Tools struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server. Steps that must not depend on stale data use it.
	Live client.Reader
	// Children writes the child objects.
	Children *ensure.Applier
	// Events writes Kubernetes events.
	Events events.EventRecorder
	// Registry is where kinds register their metrics.
	Registry metrics.RegistererGatherer
	// Clock is the clock on which decisions are based.
	Clock clock.WithTicker
	// AgentImage is the image of opcrew's programs in pods, and BackupImage the image of the program that backs up and
	// restores etcd.
	AgentImage, BackupImage string
	// RedisImage is the Redis or Valkey image for clusters that do not specify one.
	RedisImage string
	// DialPod connects to a pod by its cluster DNS name or IP address. If it is nil, the process connects over its own
	// network.
	DialPod func(ctx context.Context, network, address string) (net.Conn, error)
	// Node is the node on which the process runs; empty if it runs outside the cluster.
	Node string
	// Namespace is the namespace that the operator is deployed in.
	Namespace string
	// Namespaces lists the namespaces that the process serves; empty means all.
	Namespaces []string
	// Installed maps the CRD names of optional types and of peers to whether they are installed.
	Installed map[string]bool

	metrics    *sharedMetrics
	references references
}

// Register registers the shared metrics, and installs the limit on events. The manager calls it once, before any loop
// runs.
func (t *Tools) Register() error {
	m, err := newMetrics(t.Registry)
	if err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	t.metrics = m
	t.Events = &sparingRecorder{EventRecorder: t.Events, clock: t.Clock, leftOut: m.leftOut}
	return nil
}
