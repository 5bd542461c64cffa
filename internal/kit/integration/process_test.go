// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	clocktesting "k8s.io/utils/clock/testing"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"k8s.io/client-go/rest"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// process is one process of the operator without a work queue. Tests call its functions directly.
type process struct {
	*ensure.Applier
	t *testing.T
	// user is the name of the process in the audit log.
	user string
	// client reads from the cache and writes to the API server. live reads from the API server.
	client client.Client
	live   client.Reader
	clock  *clocktesting.FakeClock
}

// setup holds the options of a process that differ from the defaults.
type setup struct {
	groups    []string          // groups of the user; nil means system:masters
	types     []client.Object   // types of which the cache holds the objects that opcrew created; see ownTypes
	intercept interceptor.Funcs // intercepts calls between the process and the API server
	events    *gate             // delays the events for the cache
	// everywhere makes the process cache all namespaces instead of only the test's namespace.
	everywhere bool
}

var (
	started      int
	noon         = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	sharedMapper = sync.OnceValues(func() (meta.RESTMapper, error) {
		transport, err := rest.HTTPClientFor(env.Config)
		if err != nil {
			return nil, err
		}
		return apiutil.NewDynamicRESTMapper(env.Config, transport)
	})
)

func ownTypes() []client.Object {
	return []client.Object{&corev1.ConfigMap{}, &corev1.Service{}, &corev1.ServiceAccount{}, &appsv1.Deployment{}, &nodev1.RuntimeClass{}}
}

// start starts a new operator process, which remembers nothing of earlier ones. Its cache holds the given namespace.
func start(t *testing.T, namespace string, s setup) *process {
	t.Helper()
	started++
	p := &process{t: t, user: fmt.Sprintf("process-%d@%s", started, namespace), clock: clocktesting.NewFakeClock(noon)}
	if s.groups == nil {
		s.groups = []string{"system:masters"}
	}
	if s.types == nil {
		s.types = ownTypes()
	}
	config := env.ConfigAs(p.user, s.groups...)
	// The mapper is shared between processes, so that discovery calls do not count as calls of the process.
	mapper, err := sharedMapper()
	if err != nil {
		t.Fatalf("discovering what the server has: %v", err)
	}
	reader := startCache(t, config, mapper, namespace, s)
	writer, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper, Cache: &client.CacheOptions{Reader: reader}})
	if err != nil {
		t.Fatalf("making the client: %v", err)
	}
	p.client = interceptor.NewClient(writer, s.intercept)
	if p.live, err = client.New(config, client.Options{Scheme: scheme, Mapper: mapper}); err != nil {
		t.Fatalf("making the client: %v", err)
	}
	p.Applier = &ensure.Applier{Client: p.client, Live: p.live, Clock: p.clock}
	return p
}

// Ensure calls Ensure of the Applier for one child.
func (p *process) Ensure(ctx context.Context, owner client.Object, child ensure.Child, hold bool) (ensure.Result, error) {
	result := p.Applier.Ensure(ctx, owner, []ensure.Child{child}, hold)[0]
	return result, result.Err
}

// startCache starts a cache with the options of package kit: only declared types, and only children of opcrew.
func startCache(t *testing.T, config *rest.Config, mapper meta.RESTMapper, namespace string, s setup) cache.Cache {
	t.Helper()
	opts := cache.Options{
		Scheme: scheme, Mapper: mapper,
		ByObject:                    map[client.Object]cache.ByObject{&Widget{}: {}},
		DefaultNamespaces:           map[string]cache.Config{namespace: {}},
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
	}
	for _, object := range s.types {
		opts.ByObject[object] = kit.Ours()
	}
	if s.everywhere {
		opts.DefaultNamespaces = nil
	}
	if s.events != nil {
		opts.NewInformer = s.events.newInformer
	}
	reader, err := cache.New(config, opts)
	if err != nil {
		t.Fatalf("making the cache: %v", err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = reader.Start(t.Context()) // Start returns when the test ends
	}()
	t.Cleanup(func() { <-stopped })
	for object := range opts.ByObject {
		if _, err := reader.GetInformer(t.Context(), object); err != nil {
			t.Fatalf("caching %T: %v", object, err)
		}
	}
	if !reader.WaitForCacheSync(t.Context()) {
		t.Fatal("the cache does not fill")
	}
	return reader
}
