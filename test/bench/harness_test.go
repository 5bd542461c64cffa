// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
)

const (
	namespace = "opcrew-system"
	operator  = "operator"
	bare      = "bare"
	// workers is how many writes are under way at a time, for both.
	workers = 8
)

var (
	env     *testenv.Env
	nodes   = flag.Int("nodes", 500, "how many nodes join a pool")
	objects = flag.Int("objects", 200, "how many Memcacheds are made")
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{clientgoscheme.AddToScheme, nodesv1.AddToScheme, cachev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	testenv.Run(m, &env, testenv.Options{CRDs: []string{testenv.ProjectCRDs}, Scheme: scheme, NodeGrace: 5 * time.Minute})
}

// account is a ServiceAccount that may do everything: rights change neither counts nor
// times, and both sides get the same treatment by the server's fair queuing.
func account(t *testing.T, name string) *rest.Config {
	t.Helper()
	config := env.TokenConfig(t, namespace, name)
	config.QPS = -1
	binding := &rbacv1.ClusterRoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
	}
	binding.GenerateName = "bench-"
	if err := env.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	return config
}

// start runs the operator with one kind until the returned function is called. The
// namespaces, if any, are all that it sees: the bare client works elsewhere.
func start(t *testing.T, config *rest.Config, kind kit.Kind, namespaces ...string) (stop func()) {
	t.Helper()
	mgr, err := kit.NewManager(config, kit.Options{
		Kinds: []kit.Kind{kind}, Namespaces: namespaces, MetricsAddress: "0", ProbeAddress: "0",
		Registry: prometheus.NewRegistry(), Clock: clock.RealClock{}, ShutdownTimeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	}
}

// concurrently does n things, as many at a time as the operator has workers.
func concurrently(t *testing.T, n int, do func(context.Context, int) error) time.Duration {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(workers)
	begin := time.Now()
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}

// resting checks that the operator makes no call while nothing happens, and none that
// writes when it starts again.
func resting(t *testing.T, config *rest.Config, kind kit.Kind, stop func(), namespaces ...string) {
	t.Helper()
	user := testenv.ServiceAccountUser(namespace, operator)
	env.Settle(t, user, 2*time.Second, time.Minute)
	env.Quiet(t, user, 5*time.Second)
	stop()
	mark := env.Audit.Mark(t)
	stop = start(t, config, kind, namespaces...)
	defer stop()
	env.Settle(t, user, 3*time.Second, time.Minute)
	if writes := env.Audit.Since(t, mark).By(user).Writes().Counted(); len(writes) > 0 {
		t.Errorf("a restart should write nothing, the operator wrote:\n%s", writes)
	}
}

// heap is what the process holds, in MiB, after a collection.
func heap() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc) / (1 << 20)
}
