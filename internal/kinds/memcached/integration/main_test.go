// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests Memcached as a user meets it: the real manager, under the
// ServiceAccount and the roles that are deployed, on a real API server with the real
// controllers and simulated nodes. What calls it makes is read from the server's audit
// log. Pure functions are tested beside their code.
package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/memcached"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

const (
	namespace = "opcrew-system"
	account   = "opcrew-data"

	// long is what a busy machine may take; nothing waits for it to pass.
	long = 30 * time.Second
	// silence is listened to for so long: twice the interval between two writes of a status.
	silence = time.Second
)

var (
	env *testenv.Env
	// user is who the operator is, to the server.
	user = testenv.ServiceAccountUser(namespace, account)
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cachev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	testenv.Run(m, &env, testenv.Options{
		CRDs:   []string{testenv.ProjectCRDs + "/cache.example.com_memcacheds.yaml"},
		Scheme: scheme,
		// No test here waits for a lost node, and heartbeats are work for the server.
		NodeGrace: 2 * time.Minute,
	})
}

// deployed is the operator's account, with the rights that the layer deploys and no
// others.
func deployed(t *testing.T) *rest.Config {
	t.Helper()
	deployment.Do(func() {
		env.Apply(t, "config/default/namespace.yaml")
		for _, object := range layer(t) {
			env.ApplyObject(t, object)
		}
		deployedConfig = env.TokenConfig(t, namespace, account)
	})
	if deployedConfig == nil {
		t.Fatal("the operator could not be deployed, see the first test")
	}
	return rest.CopyConfig(deployedConfig)
}

var (
	deployment     sync.Once
	deployedConfig *rest.Config
)

// layer lists what is deployed for the layer, without its Deployment.
func layer(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	kubectl := exec.CommandContext(t.Context(), filepath.Join(env.Root, "bin", "kubectl"), "kustomize", filepath.Join(env.Root, "config", "layers", "data"))
	var stderr bytes.Buffer
	kubectl.Stderr = &stderr
	text, err := kubectl.Output()
	if err != nil {
		t.Fatalf("kubectl kustomize config/layers/data: %v\n%s", err, stderr.String())
	}
	file := filepath.Join(t.TempDir(), "data.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	docs, err := manifest.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, doc := range docs {
		if doc.Object.GetKind() == "ServiceAccount" || doc.Object.GroupVersionKind().Group == rbacv1.GroupName {
			objects = append(objects, doc.Object)
		}
	}
	if len(objects) != 5 {
		t.Fatalf("expected an account, two roles and their bindings for layer data, got %d objects", len(objects))
	}
	return objects
}

// operator is one process of the operator, which can be ended and started again.
type operator struct {
	registry *prometheus.Registry
	t        *testing.T
	mark     testenv.Mark
	cancel   context.CancelFunc // nil: it does not run
	ended    chan error
}

// startOperator runs the manager until the end of the test.
func startOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{t: t, mark: env.Audit.Mark(t)}
	t.Cleanup(o.stop)
	o.start()
	return o
}

// start begins a new process, which remembers nothing, and waits until it has seen the
// cluster.
func (o *operator) start() {
	o.t.Helper()
	o.registry, o.ended = prometheus.NewRegistry(), make(chan error, 1)
	mgr, err := kit.NewManager(deployed(o.t), kit.Options{
		Kinds:           []kit.Kind{memcached.Kind()},
		MetricsAddress:  "0",
		ProbeAddress:    "0",
		Registry:        o.registry,
		Clock:           clock.RealClock{},
		ShutdownTimeout: 10 * time.Second,
	})
	if err != nil {
		o.t.Fatalf("making the manager: %v", err)
	}
	var ctx context.Context
	ctx, o.cancel = context.WithCancel(context.WithoutCancel(o.t.Context()))
	go func() { o.ended <- mgr.Start(ctx) }()
	synced, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	if !mgr.GetCache().WaitForCacheSync(synced) {
		o.t.Fatal("the manager does not get to see the cluster: are its rights complete?")
	}
}

// stop ends the process between two of its writes, and expects that it was never
// refused anything for lack of a right.
func (o *operator) stop() {
	if o.cancel == nil {
		return
	}
	o.cancel()
	o.cancel = nil
	select {
	case err := <-o.ended:
		if err != nil {
			o.t.Errorf("the manager ended with %v", err)
		}
	case <-time.After(long):
		o.t.Error("the manager does not end")
	}
	forbidden := env.Audit.Since(o.t, o.mark).By(user).Where(func(c testenv.Call) bool { return c.Code == 403 })
	if len(forbidden) > 0 {
		o.t.Errorf("expected the deployed roles to allow all that the operator does; refused:\n%s", forbidden)
	}
}

// calls are the operator's since a mark.
func calls(t *testing.T, mark testenv.Mark) testenv.Calls {
	t.Helper()
	return env.Audit.Since(t, mark).By(user).Counted()
}

// settled waits until the operator does nothing any more, and returns what it did since
// the mark.
func settled(t *testing.T, mark testenv.Mark) testenv.Calls {
	t.Helper()
	env.Settle(t, user, 600*time.Millisecond, long)
	return calls(t, mark)
}

func until(t *testing.T, expectation string, check func() error) {
	t.Helper()
	eventually.True(t, long, expectation, check)
}
