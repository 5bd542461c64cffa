// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package outside

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/opcrew/opcrew/internal/kit"
)

const (
	long  = 20 * time.Second
	short = 300 * time.Millisecond
)

// scene is a simulated API server, on which simulated processes hold Leases. It collects the log lines of these
// processes.
type scene struct {
	client *fake.Clientset
	mu     sync.Mutex
	lines  []string
}

func newScene() *scene {
	ns := &corev1.Namespace{}
	ns.Name = "opcrew-system"
	return &scene{client: fake.NewClientset(ns)}
}

func (s *scene) leases(identity string, names ...string) Leases {
	log := funcr.New(func(_, args string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, args)
	}, funcr.Options{})
	return Leases{Client: s.client, Namespace: "opcrew-system", Names: names, Identity: identity, Log: log,
		LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 50 * time.Millisecond}
}

func (s *scene) logged(words string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.lines, "\n"), words)
}

func (s *scene) holder(t *testing.T, name string) string {
	t.Helper()
	lease, err := s.client.CoordinationV1().Leases("opcrew-system").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// takeOver makes another process take a lease just before its holder updates it, and rejects this and all later updates
// by the former holder. A real API server rejects them because of their resourceVersion, which the fake client ignores.
func (s *scene) takeOver(t *testing.T, name, by string) {
	t.Helper()
	leases := coordinationv1.SchemeGroupVersion.WithResource("leases")
	now, seconds := metav1.NowMicro(), int32(3600)
	taken := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &by, AcquireTime: &now, RenewTime: &now, LeaseDurationSeconds: &seconds}}
	taken.Namespace, taken.Name = "opcrew-system", name
	var once sync.Once
	s.client.PrependReactor("update", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		update, _ := action.(clienttesting.UpdateAction)
		if lease, _ := update.GetObject().(*coordinationv1.Lease); lease.Name != name {
			return false, nil, nil
		}
		once.Do(func() {
			if err := s.client.Tracker().Update(leases, taken, taken.Namespace); err != nil {
				t.Error(err)
			}
		})
		return true, nil, apierrors.NewConflict(leases.GroupResource(), name, errors.New("it has been changed"))
	})
}

// process is a running process that the test can end.
type process struct {
	serving chan struct{}
	end     context.CancelFunc
	ended   chan error
}

func start(t *testing.T, l Leases) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &process{serving: make(chan struct{}), end: cancel, ended: make(chan error, 1)}
	go func() {
		p.ended <- l.Hold(ctx, func(ctx context.Context) error {
			close(p.serving)
			<-ctx.Done()
			return nil
		})
	}()
	t.Cleanup(cancel)
	return p
}

func within(t *testing.T, d time.Duration, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("expected within %s: %s", d, what)
	}
}

func TestAProcessWaitsForOneThatServesAndSaysForWhom(t *testing.T) {
	s := newScene()
	deployed := start(t, s.leases("deployed", "opcrew-data"))
	within(t, long, "the deployed process serves", deployed.serving)
	outside := start(t, s.leases("laptop", "opcrew-applications", "opcrew-data"))
	select {
	case <-outside.serving:
		t.Fatal("expected the process outside to serve nothing while the deployed one holds a lease that it needs")
	case <-time.After(short):
	}
	for _, words := range []string{"waits until that process ends", "opcrew-system/opcrew-data", `"holder"="deployed"`, "scale deployment opcrew-data --replicas 0"} {
		if !s.logged(words) {
			t.Errorf("expected the process outside to say %q", words)
		}
	}
	deployed.end()
	within(t, long, "the process outside serves when the deployed one has ended", outside.serving)
	if got := s.holder(t, "opcrew-data"); got != "laptop" {
		t.Errorf("expected the lease to name the process outside, got %q", got)
	}
}

func TestLeasesAreGivenBackWhenNothingIsServedAnyMore(t *testing.T) {
	s := newScene()
	p := start(t, s.leases("laptop", "opcrew-applications", "opcrew-data"))
	within(t, long, "the process serves", p.serving)
	p.end()
	if err := <-p.ended; err != nil {
		t.Errorf("expected an end that was asked for to be no error, got: %v", err)
	}
	for _, name := range []string{"opcrew-applications", "opcrew-data"} {
		if got := s.holder(t, name); got != "" {
			t.Errorf("expected lease %s to be given back, %s holds it", name, got)
		}
	}
}

func TestAProcessThatLosesALeaseStopsServing(t *testing.T) {
	s := newScene()
	p := start(t, s.leases("laptop", "opcrew-applications", "opcrew-data"))
	within(t, long, "the process serves", p.serving)
	s.takeOver(t, "opcrew-data", "other")
	select {
	case err := <-p.ended:
		if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "lease opcrew-system/opcrew-data") {
			t.Errorf("expected the lost lease to be named, got: %v", err)
		}
	case <-time.After(long):
		t.Fatal("expected the process to end when another one took a lease")
	}
	for name, want := range map[string]string{"opcrew-applications": "", "opcrew-data": "other"} {
		if got := s.holder(t, name); got != want {
			t.Errorf("expected lease %s to be held by %q, got %q", name, want, got)
		}
	}
}

func TestALostLeaseEndsAProcessThatIsSlowToStop(t *testing.T) {
	s := newScene()
	serving, stuck, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	t.Cleanup(func() { close(stuck) })
	go func() {
		ended <- s.leases("laptop", "opcrew-data").Hold(t.Context(), func(context.Context) error {
			close(serving)
			<-stuck
			return nil
		})
	}()
	within(t, long, "the process serves", serving)
	s.takeOver(t, "opcrew-data", "other")
	select {
	case err := <-ended:
		if !errors.Is(err, ErrLost) {
			t.Errorf("expected the lost lease to be the reason, got: %v", err)
		}
	case <-time.After(long):
		t.Fatal("expected the process not to wait for what it serves while another one serves the same")
	}
}

func TestWithoutInstallItSaysWhatToDo(t *testing.T) {
	s := newScene()
	l := s.leases("laptop", "opcrew-data")
	l.Namespace = "elsewhere"
	if err := l.Hold(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "make install") {
		t.Errorf("expected a missing namespace to be explained, got: %v", err)
	}
}

func TestTheTableHasEveryKind(t *testing.T) {
	out := &strings.Builder{}
	served := []kit.Registration{{Name: "cache"}, {Name: "store", Outside: "members are reached by port-forward"}}
	if err := Table(out, served, map[string]string{"pool": "CRD pools.example.com is not installed"}); err != nil {
		t.Fatal(err)
	}
	const want = `KIND    SERVED   LIMITS OUTSIDE THE CLUSTER
cache   yes      no limits
store   yes      members are reached by port-forward
pool    no       CRD pools.example.com is not installed
`
	if out.String() != want {
		t.Errorf("expected\n%sgot\n%s", want, out)
	}
}
