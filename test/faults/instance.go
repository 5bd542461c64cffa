// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// instance is one operator process. It runs the real manager inside the test process, and all its requests pass through
// a transport.
type instance struct {
	id     int
	wire   *wire
	dead   atomic.Bool // the process has crashed, so its requests no longer reach the server
	cancel context.CancelFunc
	done   chan struct{}
	err    error // error of the manager, set when done is closed

	mu     sync.Mutex
	queues []workqueue.TypedRateLimitingInterface[reconcile.Request]
	// past maps resources to the old resource versions at which their first lists are served. If past is nil, the
	// process gets current lists.
	past    map[string]string
	listed  map[string]bool
	anyList bool // serve old lists even if the client requires current ones
}

// start starts a process, and returns once its caches are filled.
func (i *instance) start(ctx context.Context, cfg *rest.Config, kind kit.Registration, namespace string) error {
	cfg = rest.CopyConfig(cfg)
	cfg.ContentType = "application/json"
	cfg.UserAgent = "opcrew-under-test"
	cfg.Impersonate = rest.ImpersonationConfig{UserName: userOf(kind), Groups: []string{"system:masters"}}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{i.wire, i, next} })
	mgr, err := kit.NewManager(cfg, options(i.spied(kind), namespace))
	if err != nil {
		return err
	}
	ctx, i.cancel = context.WithCancel(ctx)
	go func() {
		i.err = mgr.Start(ctx)
		close(i.done)
	}()
	synced, cancel := context.WithTimeout(ctx, eventually.Long)
	defer cancel()
	// An informer fills its cache only after the first request for it, so request all informers.
	for object := range kind.Cache() {
		if _, err := mgr.GetCache().GetInformer(synced, object); err != nil && !i.dead.Load() {
			i.cancel()
			return fmt.Errorf("the cache of %T was not filled: %w", object, err)
		}
	}
	return nil
}

// userOf returns the user name of the operator. The policies of MachineConfig and Activity let only the operator's
// account write some fields.
func userOf(kind kit.Registration) string {
	if kind.OptIn || kind.Name == "activity" {
		return testenv.ServiceAccountUser("opcrew-system", "opcrew-"+kind.Layer)
	}
	return "opcrew"
}

func options(kind kit.Registration, namespace string) kit.Options {
	opts := kit.Options{
		Kinds: []kit.Registration{kind}, MetricsAddress: "0", ProbeAddress: "0",
		AgentImage: "opcrew/opcrew-agent:test", BackupImage: "opcrew/opcrew-backup:test", RedisImage: "docker.io/valkey/valkey:8.1",
		Registry: prometheus.NewRegistry(), Clock: clock.RealClock{}, ShutdownTimeout: 5 * time.Second,
	}
	if namespace != "" {
		opts.Namespaces = []string{namespace}
	}
	return opts
}

// die simulates a crash of the process: none of its requests reach the server from now on.
func (i *instance) die() {
	i.dead.Store(true)
	i.cancel()
}

// end stops the process gracefully and waits until it has ended.
func (i *instance) end() error {
	i.cancel()
	select {
	case <-i.done:
		if i.dead.Load() {
			return nil
		}
		return i.err
	case <-time.After(20 * time.Second):
		return fmt.Errorf("process %d did not end in time", i.id)
	}
}

// spied wraps the setup function of a kind, so that tests get access to the work queues of its controllers.
func (i *instance) spied(kind kit.Registration) kit.Registration {
	setup := kind.Setup
	kind.Setup = func(mgr ctrl.Manager, tools *kit.Tools) error { return setup(&spy{mgr, i}, tools) }
	return kind
}

type spy struct {
	manager.Manager
	of *instance
}

// Add implements manager.Manager.
func (s *spy) Add(runnable manager.Runnable) error {
	if c, ok := runnable.(interface{ Watch(source.Source) error }); ok {
		if err := c.Watch(source.Func(s.of.keep)); err != nil {
			return err
		}
	}
	return s.Manager.Add(runnable)
}

func (i *instance) keep(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queues = append(i.queues, queue)
	return nil
}

// enqueue adds the keys to the work queues of all controllers of the process.
func (i *instance) enqueue(keys []Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, queue := range i.queues {
		for _, key := range keys {
			queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: key.Namespace, Name: key.Name}})
		}
	}
}

// looksBack reports whether the process starts with old lists.
func (i *instance) looksBack() bool { return i.past != nil }

// lookBack returns the old resource version at which a list is served. The first list of a resource, with which the
// process fills its cache, is old. For later lists, which must be current, lookBack returns "".
func (i *instance) lookBack(req *http.Request, about target) string {
	version := i.past[about.resource]
	if version == "" {
		version = i.past[everything]
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if version == "" || about.resource == "" || i.listed[about.resource] {
		return ""
	}
	i.listed[about.resource] = true
	query := req.URL.Query()
	if query.Get("resourceVersion") == "" && !i.anyList {
		return "" // no real server returns old data for a consistent read
	}
	query.Set("resourceVersion", version)
	query.Set("resourceVersionMatch", "Exact")
	req.URL.RawQuery = query.Encode()
	return version
}
