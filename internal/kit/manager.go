// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"maps"
	"net"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
	"github.com/opcrew/opcrew/internal/guard/rights"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/kit/trim"
)

// Options configures one process of the operator.
type Options struct {
	// Kinds are the kinds that this process serves if their CRDs are installed.
	Kinds []Registration
	// Namespace is the namespace of the operator. NetworkPolicies allow connections from its pods to databases.
	Namespace string
	// Namespaces lists the namespaces whose objects the process serves; empty means all namespaces.
	Namespaces []string
	// LeaderElectionID is the name of a Lease in LeaderElectionNamespace that elects one active process. If it is
	// empty, there is no election, and this must be the only process.
	LeaderElectionID        string
	LeaderElectionNamespace string
	// MetricsAddress is the address of the metrics server, which uses TLS and checks the rights of clients; "0"
	// disables it.
	MetricsAddress string
	// ProbeAddress is the address that serves /healthz and /readyz; "0" disables it.
	ProbeAddress string
	// Registry is where the process registers its metrics. Tests that run several managers use one registry per
	// manager.
	Registry metrics.RegistererGatherer
	// AgentImage is the image of opcrew's programs in pods, and BackupImage the image of the program that backs up and
	// restores etcd.
	AgentImage, BackupImage string
	// RedisImage is the Redis or Valkey image for clusters that do not specify one.
	RedisImage string
	// Node is the node on which the process runs; empty if it runs outside the cluster.
	Node string
	// RequesterChecks enables a check of every pod: each object that the pod uses must belong to the pod's owner, or
	// the user who created or last changed the owner must have a right to it.
	RequesterChecks bool
	// DialPod connects to a pod. If it is nil, the process connects over its own network.
	DialPod func(ctx context.Context, network, address string) (net.Conn, error)
	// Announce, if set, is called once with the served kinds, and with a map from the names of unserved kinds to the
	// reasons.
	Announce func(served []Registration, unserved map[string]string)
	// Clock is the clock on which decisions are based.
	Clock clock.WithTicker
	// ShutdownTimeout is how long the manager waits for running reconciles when it stops.
	ShutdownTimeout time.Duration
}

// NewManager returns a manager that serves the kinds. It leaves out a kind whose CRD is missing or was installed by
// another product. The manager ends with ErrRestart when such a kind can be served.
func NewManager(cfg *rest.Config, opts Options) (ctrl.Manager, error) {
	scheme, err := newScheme(opts.Kinds)
	if err != nil {
		return nil, err
	}
	served, missing, err := sortKinds(cfg, opts.Kinds)
	if err != nil {
		return nil, err
	}
	installed, err := optionals(cfg, served)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, managerOptions(scheme, without(served, installed), opts))
	if err != nil {
		return nil, fmt.Errorf("create the manager: %w", err)
	}
	children, err := applier(mgr, opts)
	if err != nil {
		return nil, err
	}
	tools := &Tools{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder(common.Name), Registry: opts.Registry, Clock: opts.Clock,
		Children:   children,
		AgentImage: opts.AgentImage, BackupImage: opts.BackupImage, RedisImage: opts.RedisImage,
		DialPod: opts.DialPod, Node: opts.Node, Namespace: opts.Namespace, Namespaces: opts.Namespaces, Installed: installed,
	}
	if err := tools.Register(); err != nil {
		return nil, err
	}
	for _, kind := range served {
		if err := kind.Setup(mgr, tools); err != nil {
			return nil, fmt.Errorf("set up kind %s: %w", kind.Name, err)
		}
	}
	for _, kind := range missing {
		if kind.OptIn {
			mgr.GetLogger().Info("opcrew does not serve this kind, whose CRDs are installed separately", "kind", kind.Name, "why", kind.why)
		}
	}
	expected := withoutOptIns(missing)
	if err := reportServed(opts.Registry, served, expected); err != nil {
		return nil, err
	}
	if opts.Announce != nil {
		opts.Announce(served, reasons(missing))
	}
	awaited := append(lacking(mgr.GetAPIReader(), served, installed), optIns(mgr.GetAPIReader(), missing)...)
	if err := mgr.Add(&optionalWatch{cfg: cfg, missing: awaited, clock: opts.Clock}); err != nil {
		return nil, err
	}
	return mgr, mgr.Add(&crdWatch{reader: mgr.GetAPIReader(), missing: expected, clock: opts.Clock})
}

// applier returns the Applier that writes the children of all kinds. Its guards are the checks that every pod must
// pass.
func applier(mgr ctrl.Manager, opts Options) (*ensure.Applier, error) {
	standards, err := podsecurity.NewGuard()
	if err != nil {
		return nil, err
	}
	out := &ensure.Applier{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: opts.Clock, Guards: []guard.Guard{standards}}
	if opts.RequesterChecks {
		out.Guards = append(out.Guards, &rights.Guard{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: opts.Clock})
	}
	return out, nil
}

func newScheme(kinds []Registration) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if err := kind.AddToScheme(scheme); err != nil {
			return nil, fmt.Errorf("register the types of kind %s: %w", kind.Name, err)
		}
	}
	return scheme, nil
}

func managerOptions(scheme *runtime.Scheme, kinds []Registration, opts Options) ctrl.Options {
	return ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions(kinds, opts.Namespaces),
		Client: client.Options{FieldOwner: common.Name},
		Metrics: metricsserver.Options{
			BindAddress:    opts.MetricsAddress,
			SecureServing:  true,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		HealthProbeBindAddress:  opts.ProbeAddress,
		LeaderElection:          opts.LeaderElectionID != "",
		LeaderElectionID:        opts.LeaderElectionID,
		LeaderElectionNamespace: opts.LeaderElectionNamespace,
		// The process ends as soon as the manager has stopped. Therefore the manager may release the Lease when it
		// stops, before the Lease expires.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &opts.ShutdownTimeout,
		// Tests run several managers with the same controller names in one process.
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
}

// cacheOptions restricts the cache to the types that the kinds declare. An accidental read of another type then fails,
// and does not start an informer on the whole cluster.
func cacheOptions(kinds []Registration, namespaces []string) cache.Options {
	opts := cache.Options{
		ByObject:                    map[client.Object]cache.ByObject{},
		DefaultTransform:            trim.Object,
		ReaderFailOnMissingInformer: true,
		NewInformer:                 newInformer,
	}
	opts.DefaultNamespaces = inNamespaces(namespaces)
	for _, kind := range kinds {
		for object, by := range kind.Cache() {
			addToCache(opts, object, by)
		}
		for _, object := range kind.Optional {
			addToCache(opts, object, Ours())
		}
	}
	for _, kind := range kinds {
		for _, object := range kind.Peers {
			if !isCached(opts, object) {
				addToCache(opts, object, Ours())
			}
		}
	}
	return opts
}

func isCached(opts cache.Options, object client.Object) bool {
	for other := range opts.ByObject {
		if reflect.TypeOf(other) == reflect.TypeOf(object) {
			return true
		}
	}
	return false
}

// inNamespaces returns the cache configuration for some namespaces. With no namespaces it does not limit the cache.
func inNamespaces(names []string) map[string]cache.Config {
	var out map[string]cache.Config
	for _, name := range names {
		if out == nil {
			out = map[string]cache.Config{}
		}
		out[name] = cache.Config{}
	}
	return out
}

// addToCache adds the cache options of one kind for a type. All kinds share a cache, so they must declare the same
// options for a type, except for the namespaces: the cache then holds the namespaces of all of these kinds.
func addToCache(opts cache.Options, object client.Object, by cache.ByObject) {
	for other, there := range opts.ByObject {
		if reflect.TypeOf(other) != reflect.TypeOf(object) {
			continue
		}
		if !reflect.DeepEqual(there.Label, by.Label) || (there.Transform == nil) != (by.Transform == nil) {
			panic(fmt.Sprintf("two kinds declare different cache options for %T", object))
		}
		if !reflect.DeepEqual(there.Namespaces, by.Namespaces) {
			there.Namespaces = together(there.Namespaces, by.Namespaces, opts.DefaultNamespaces)
			opts.ByObject[other] = there
		}
		return
	}
	opts.ByObject[object] = by
}

// together returns the union of the namespaces of two kinds. A kind without namespaces of its own uses those of the
// process. If the process has none either, the result is all namespaces.
func together(a, b, ofProcess map[string]cache.Config) map[string]cache.Config {
	out := map[string]cache.Config{}
	for _, namespaces := range []map[string]cache.Config{a, b} {
		if namespaces == nil {
			namespaces = ofProcess
		}
		if namespaces == nil {
			return nil
		}
		maps.Copy(out, namespaces)
	}
	return out
}

// Ours returns cache options that select only objects that opcrew created.
func Ours() cache.ByObject {
	return cache.ByObject{Label: labels.SelectorFromSet(labels.Set{common.ManagedByLabel: common.Name})}
}
