// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"maps"
	"net"
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
)

// Options are those of one process of the operator.
type Options struct {
	// Kinds that this process serves.
	Kinds []Kind
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
	// HelperImage is that of the in-pod helper, BackupImage that of what saves and restores etcd.
	HelperImage, BackupImage string
	// RedisImage is that of Redis or Valkey for clusters that name none.
	RedisImage string
	// DialPod connects to pods; nil: over the network of the process.
	DialPod func(ctx context.Context, network, address string) (net.Conn, error)
	// Announce, if any, is given the kinds that are served, and why others are not, by name.
	Announce func(served []Kind, unserved map[string]string)
	// Clock is the time that decisions rest on.
	Clock clock.WithTicker
	// ShutdownTimeout is how long running reconciles may take at the end.
	ShutdownTimeout time.Duration
}

// NewManager returns a manager that serves the kinds. A kind whose CRD is missing or
// belongs to someone else is left out, and the manager ends once that has changed.
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
	tools, err := NewTools(mgr, opts.Registry, opts.Clock)
	if err != nil {
		return nil, err
	}
	tools.Installed, tools.HelperImage, tools.BackupImage, tools.RedisImage = installed, opts.HelperImage, opts.BackupImage, opts.RedisImage
	tools.DialPod = opts.DialPod
	tools.references.namespaces = opts.Namespaces
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

func newScheme(kinds []Kind) (*runtime.Scheme, error) {
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

func managerOptions(scheme *runtime.Scheme, kinds []Kind, opts Options) ctrl.Options {
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

// cacheOptions make the cache hold only what the kinds declare: an accidental read of
// anything else is an error, not a silent informer on the whole cluster.
func cacheOptions(kinds []Kind, namespaces []string) cache.Options {
	opts := cache.Options{
		ByObject:                    map[client.Object]cache.ByObject{},
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		NewInformer:                 newInformer,
	}
	opts.DefaultNamespaces = inNamespaces(namespaces)
	for _, kind := range kinds {
		for object, by := range kind.Cache() {
			addToCache(opts, object, by)
		}
		for _, optional := range kind.Optional {
			addToCache(opts, optional.Object, optional.Cache)
		}
	}
	return opts
}

// inNamespaces limits a cache to some namespaces; none: it is not limited.
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

// addToCache adds what a kind caches of a type. Two kinds of one process share a cache,
// so they must want the same of it; that they do is decided when they are written. Where
// each looks at namespaces of its own, both see all of them.
func addToCache(opts cache.Options, object client.Object, by cache.ByObject) {
	for other, there := range opts.ByObject {
		if reflect.TypeOf(other) != reflect.TypeOf(object) {
			continue
		}
		if !reflect.DeepEqual(there.Label, by.Label) || (there.Transform == nil) != (by.Transform == nil) {
			panic(fmt.Sprintf("two kinds cache %T in different ways", object))
		}
		if !reflect.DeepEqual(there.Namespaces, by.Namespaces) {
			there.Namespaces = together(there.Namespaces, by.Namespaces, opts.DefaultNamespaces)
			opts.ByObject[other] = there
		}
		return
	}
	opts.ByObject[object] = by
}

// together are the namespaces of two kinds, of which none stands for those of the process;
// and if that has none, for all.
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

// Ours limits the cache of a type to the objects that the operator made.
func Ours() cache.ByObject {
	return cache.ByObject{Label: labels.SelectorFromSet(labels.Set{common.ManagedByLabel: common.Name})}
}

// TrimPod is a cache transform that keeps of a Pod what says where it runs, for how long it may, what its
// containers were declared to run and to have, and why it is not ready.
func TrimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields = nil
	full := pod.Spec
	pod.Spec = corev1.PodSpec{NodeName: full.NodeName, ActiveDeadlineSeconds: full.ActiveDeadlineSeconds}
	for _, c := range full.Containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources})
	}
	return pod, nil
}

// TrimReplicaSet is a cache transform that keeps of a ReplicaSet what says which revision
// it is, with which images, ports and volumes, and how its pods fare. A Deployment has up to ten.
func TrimReplicaSet(object any) (any, error) {
	set, ok := object.(*appsv1.ReplicaSet)
	if !ok {
		return object, nil
	}
	set.ManagedFields = nil
	full := set.Spec.Template
	set.Spec.Template = corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: full.Spec.Volumes}}
	set.Spec.Template.Annotations = full.Annotations
	for _, c := range full.Spec.Containers {
		set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, corev1.Container{Name: c.Name, Image: c.Image, Ports: c.Ports})
	}
	return set, nil
}

// TrimNode is a cache transform that drops what is large in a Node and no one reads:
// the list of images, the volumes, and who else wrote which field.
func TrimNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	node.ManagedFields = slices.DeleteFunc(node.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager != common.Name || e.Subresource != ""
	})
	node.Status.Images = nil
	node.Status.VolumesAttached = nil
	node.Status.VolumesInUse = nil
	return node, nil
}
