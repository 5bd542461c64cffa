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
)

// Options are those of one process of the operator.
type Options struct {
	// Kinds that this process serves.
	Kinds []Registration
	// Namespace is the one that the operator is deployed in: NetworkPolicies let its pods connect to stores.
	Namespace string
	// Namespaces limits namespaced kinds to some namespaces; empty means all.
	Namespaces []string
	// LeaderElectionID, with LeaderElectionNamespace, elects one active process by a
	// Lease of that name; empty: this is the only process.
	LeaderElectionID        string
	LeaderElectionNamespace string
	// MetricsAddress serves metrics over TLS to those who may read them; "0": none.
	MetricsAddress string
	// ProbeAddress serves /healthz and /readyz; "0": none.
	ProbeAddress string
	// Registry takes the metrics; tests that run several processes give each its own.
	Registry metrics.RegistererGatherer
	// AgentImage is the image of the programs in pods, BackupImage that of the program that saves and restores etcd.
	AgentImage, BackupImage string
	// RedisImage is the image of Redis or Valkey for clusters that name none.
	RedisImage string
	// RequesterChecks has pods use only what belongs to their object, or what the requester of the object may use.
	RequesterChecks bool
	// DialPod connects to pods; nil: over the network of the process.
	DialPod func(ctx context.Context, network, address string) (net.Conn, error)
	// Announce, if set, is called with the kinds that are served, and with the reasons why others are not, by name.
	Announce func(served []Registration, unserved map[string]string)
	// Clock is the time for decisions.
	Clock clock.WithTicker
	// ShutdownTimeout is how long running reconciles may take at the end.
	ShutdownTimeout time.Duration
}

// NewManager returns a manager that serves the kinds. A kind whose CRD is missing or belongs to another product
// is left out, and the manager ends when that has changed.
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
		DialPod: opts.DialPod, Namespace: opts.Namespace, Namespaces: opts.Namespaces, Installed: installed,
	}
	if err := tools.Register(); err != nil {
		return nil, err
	}
	for _, kind := range served {
		if err := kind.Setup(mgr, tools); err != nil {
			return nil, fmt.Errorf("set up kind %s: %w", kind.Name, err)
		}
	}
	if err := reportServed(opts.Registry, served, missing); err != nil {
		return nil, err
	}
	if opts.Announce != nil {
		opts.Announce(served, reasons(missing))
	}
	if err := mgr.Add(&optionalWatch{cfg: cfg, missing: lacking(installed), clock: opts.Clock}); err != nil {
		return nil, err
	}
	return mgr, mgr.Add(&crdWatch{reader: mgr.GetAPIReader(), missing: missing, clock: opts.Clock})
}

// applier writes the children of all kinds, if the guards allow their pods.
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
		// Safe because the process ends as soon as the manager has stopped.
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &opts.ShutdownTimeout,
		// Several managers in one process (tests, fault harness) use the same names.
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
}

// cacheOptions make the cache hold only what the kinds declare: an accidental read of another type is an error,
// not a silent informer on the whole cluster.
func cacheOptions(kinds []Registration, namespaces []string) cache.Options {
	opts := cache.Options{
		ByObject:                    map[client.Object]cache.ByObject{},
		DefaultTransform:            Trim,
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
	return opts
}

// inNamespaces limits a cache to some namespaces; with none, it is not limited.
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

// addToCache adds what a kind caches of a type. The kinds of one process share a cache, and must declare the
// same for a type, apart from the namespaces: if these differ, both see all of them.
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

// together are the namespaces of two kinds. A kind without namespaces has those of the process, and all
// namespaces if the process has none.
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

// Ours limits the cache of a type to the objects that opcrew created.
func Ours() cache.ByObject {
	return cache.ByObject{Label: labels.SelectorFromSet(labels.Set{common.ManagedByLabel: common.Name})}
}
