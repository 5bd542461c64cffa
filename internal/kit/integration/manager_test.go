// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// kindOf returns the registration of a test kind.
func kindOf(name, crd string, plan func(*Widget) kit.Plan) kit.Registration {
	return kit.Registration{
		Name:        name,
		CRDs:        []string{crd},
		AddToScheme: func(s *runtime.Scheme) error { addWidgets(s); return nil },
		Cache: func() map[client.Object]cache.ByObject {
			return map[client.Object]cache.ByObject{&Widget{}: {}, &corev1.ConfigMap{}: kit.Ours(), &corev1.Service{}: kit.Ours()}
		},
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			loop := &kit.Loop[*Widget, int, int]{Tools: tools, New: func() *Widget { return &Widget{} }, Kind: &widgets{plan: plan}}
			return ctrl.NewControllerManagedBy(mgr).Named(name).For(&Widget{}).
				Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).
				WithOptions(loop.Options(1)).Complete(loop)
		},
	}
}

// run runs a manager for kinds until the test ends or stop is called.
func run(t *testing.T, config *rest.Config, namespace string, clock clock.WithTicker, kinds ...kit.Registration) (ended chan error, stop func()) {
	t.Helper()
	mgr, err := kit.NewManager(config, kit.Options{
		Kinds: kinds, Namespaces: []string{namespace}, MetricsAddress: "0", ProbeAddress: "0",
		Registry: prometheus.NewRegistry(), Clock: clock, ShutdownTimeout: 5 * time.Second,
	})
	if err != nil {
		t.Fatalf("making the manager: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ended <- mgr.Start(ctx)
	}()
	stop = func() { cancel(); <-stopped }
	t.Cleanup(stop)
	return ended, stop
}

func readySoon(t *testing.T, widget *Widget, status metav1.ConditionStatus) {
	t.Helper()
	eventually.True(t, eventually.Long, fmt.Sprintf("widget %s has Ready=%s", widget.Name, status), func() error {
		for _, c := range current(t, widget).Status.Conditions {
			if c.Type == "Ready" && c.Status == status {
				return nil
			}
		}
		return fmt.Errorf("it has %v", widget.Status.Conditions)
	})
}

func TestAManagerIsAtRestWhenAllIsAsDeclaredAlsoAfterAStart(t *testing.T) {
	ns := env.Namespace(t)
	user := "manager@" + ns
	config := env.ConfigAs(user, "system:masters")
	kind := kindOf("widget", "widgets.test.opcrew.io", withSettings)
	_, stop := run(t, config, ns, clock.RealClock{}, kind)

	mark := env.Audit.Mark(t)
	readySoon(t, newWidget(t, ns, "w"), "True")
	env.Settle(t, user, 700*time.Millisecond, eventually.Long)
	writes := env.Audit.Since(t, mark).By(user).Writes().Counted()
	if len(writes) != 3 {
		t.Errorf("%d writes until Ready, expected finalizer, child and status:\n%s", len(writes), writes)
	}
	edit(t, "kubectl-edit", settingsOf(ns), `{"data":{"mode":"slow"}}`)
	eventually.True(t, eventually.Long, "the drift is repaired", func() error {
		if got := current(t, settingsOf(ns)).Data["mode"]; got != "fast" {
			return fmt.Errorf("mode %s", got)
		}
		return nil
	})
	stop()

	again := "again@" + ns
	mark = env.Audit.Mark(t)
	run(t, env.ConfigAs(again, "system:masters"), ns, clock.RealClock{}, kind)
	env.Settle(t, again, 700*time.Millisecond, eventually.Long)
	if writes := env.Audit.Since(t, mark).By(again).Writes().Counted(); len(writes) != 0 {
		t.Errorf("%d writes after a start, expected none:\n%s", len(writes), writes)
	}
}

func TestARefusalBacksOffAndEndsWhenItIsLifted(t *testing.T) {
	ns := env.Namespace(t)
	user, groups := "refused@"+ns, limited(t)
	run(t, env.ConfigAs(user, groups...), ns, clock.RealClock{}, kindOf("widget", "widgets.test.opcrew.io", func(widget *Widget) kit.Plan {
		return kit.Plan{Children: []ensure.Child{service(widget.Namespace)}}
	}))
	mark := env.Audit.Mark(t)
	widget := newWidget(t, ns, "w")
	readySoon(t, widget, "False")
	var tries testenv.Calls
	begin := time.Now()
	eventually.True(t, eventually.Long, "it is tried again", func() error {
		tries = env.Audit.Since(t, mark).By(user).Verb("patch").On("services")
		if took := time.Since(begin); took < 1500*time.Millisecond || len(tries) < 3 {
			return fmt.Errorf("%d tries in %s", len(tries), took)
		}
		return nil
	})
	// The expected retries are 50, 100, 200, 400 and 800 ms apart.
	if len(tries) > 9 {
		t.Errorf("%d tries, expected about 6 in 1.5 seconds, ever more rarely:\n%s", len(tries), tries)
	}
	create(t,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "lifted-" + ns}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"create", "patch"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "lifted"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "lifted-" + ns},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
		})
	readySoon(t, widget, "True")
}

func TestTheManagerEndsWhenTheCRDOfAKindComesLate(t *testing.T) {
	ns := env.Namespace(t)
	clock := clocktesting.NewFakeClock(noon)
	widget := kindOf("widget", "widgets.test.opcrew.io", nil)
	gadget := kindOf("gadget", "gadgets.test.opcrew.io", nil)
	gadget.Setup = func(ctrl.Manager, *kit.Tools) error { return errors.New("it was set up without its CRD") }
	ended, _ := run(t, env.ConfigAs("late@"+ns, "system:masters"), ns, clock, widget, gadget)
	served := newWidget(t, ns, "w")
	readySoon(t, served, "True")

	crd := env.Apply(t, "internal/kit/integration/testdata/gadget.yaml")[0]
	defer gone(t, crd)
	for {
		clock.Step(30 * time.Second)
		select {
		case err := <-ended:
			if !errors.Is(err, kit.ErrRestart) {
				t.Errorf("the manager ended with %v, expected ErrRestart", err)
			}
			return
		case <-t.Context().Done():
			t.Fatal("the manager goes on, expected it to end")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestAReadOfWhatNoKindDeclaredIsAnErrorAndNoWatch(t *testing.T) {
	ns := env.Namespace(t)
	read := make(chan error, 1)
	kind := kindOf("widget", "widgets.test.opcrew.io", nil)
	setUp := kind.Setup
	kind.Setup = func(mgr ctrl.Manager, tools *kit.Tools) error {
		return errors.Join(setUp(mgr, tools), mgr.Add(runnable(func(ctx context.Context) error {
			read <- tools.Client.List(ctx, &corev1.SecretList{})
			return nil
		})))
	}
	run(t, env.ConfigAs("reader@"+ns, "system:masters"), ns, clock.RealClock{}, kind)
	notCached := &cache.ErrResourceNotCached{}
	if err := <-read; !errors.As(err, &notCached) || apierrors.IsNotFound(err) {
		t.Errorf("error %v, expected one that says that Secrets are not cached", err)
	}
}

// gone deletes an object, and waits until it no longer exists.
func gone(t *testing.T, object client.Object) {
	t.Helper()
	if err := env.Client.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, 3*time.Minute, object.GetName()+" is gone", func() error {
		return eventually.Gone(env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object), apierrors.IsNotFound)
	})
}

type runnable func(context.Context) error

func (r runnable) Start(ctx context.Context) error { return r(ctx) }
