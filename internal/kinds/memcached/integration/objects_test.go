// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/test/testenv/operator"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const pause = "opcrew.io/paused"

type option func(*cachev1alpha1.Memcached)

func withImage(image string) option {
	return func(m *cachev1alpha1.Memcached) { m.Spec.Image = image }
}

func withSize(size int32) option {
	return func(m *cachev1alpha1.Memcached) { m.Spec.Size = size }
}

func annotated(key, value string) option {
	return func(m *cachev1alpha1.Memcached) { metav1.SetMetaDataAnnotation(&m.ObjectMeta, key, value) }
}

// shop is the namespace of a test, with its nodes and the operator. If the shop has a tenant, the tenant creates and
// edits the Memcached; otherwise an administrator does.
type shop struct {
	*testing.T
	ns       string
	operator *operator.Process
	tenant   *operator.Tenant
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOf(t, env.Operator)
}

func newShopOf(t *testing.T, start func(*testing.T) *operator.Process) *shop {
	t.Helper()
	shops++ // kwok does not simulate pods on a node that is recreated under its old name
	env.Nodes(t, 2, testenv.NodeSpec{Prefix: fmt.Sprint("shop", shops)})
	s := &shop{T: t, ns: env.Namespace(t), operator: start(t)}
	env.Clear(t, &cachev1alpha1.MemcachedList{}, s.ns)
	return s
}

var shops int

func (s *shop) create(size int32, options ...option) {
	s.Helper()
	if err := env.As(s.tenant).Create(s.Context(), s.object(size, options...)); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) object(size int32, options ...option) *cachev1alpha1.Memcached {
	m := &cachev1alpha1.Memcached{}
	m.Namespace, m.Name, m.Spec.Size = s.ns, "web", size
	for _, option := range options {
		option(m)
	}
	return m
}

// edit changes the Memcached as a user would.
func (s *shop) edit(options ...option) {
	s.Helper()
	m := s.get()
	before := m.DeepCopy()
	for _, option := range options {
		option(m)
	}
	if err := env.As(s.tenant).Patch(s.Context(), m, client.MergeFrom(before), client.FieldOwner("kubectl-edit")); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) scale(size int32) {
	s.Helper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: size}}
	if err := env.Client.SubResource("scale").Update(s.Context(), s.get(), client.WithSubResourceBody(scale)); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) get() *cachev1alpha1.Memcached {
	s.Helper()
	m := &cachev1alpha1.Memcached{}
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: "web"}, m); err != nil {
		s.Fatal(err)
	}
	return m
}

func (s *shop) read(name string, object client.Object) {
	s.Helper()
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: name}, object); err != nil {
		s.Fatalf("reading %T %s: %v", object, name, err)
	}
}

// patch changes any object as another client would.
func (s *shop) patch(object client.Object, merge string) {
	s.Helper()
	if err := env.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner("another-manager")); err != nil {
		s.Fatal(err)
	}
}

// await waits until a condition has the given status and reason for the current spec, and its message contains the
// given words.
func (s *shop) await(kind, statusReason string, words ...string) *cachev1alpha1.Memcached {
	s.Helper()
	var m *cachev1alpha1.Memcached
	operator.Until(s.T, fmt.Sprintf("%s is %s and says %q", kind, statusReason, words), func() error {
		m = s.get()
		c := meta.FindStatusCondition(m.Status.Conditions, kind)
		switch {
		case c == nil:
			return errors.New("there is no such condition")
		case m.Status.ObservedGeneration != m.Generation:
			return fmt.Errorf("the status is about generation %d, the spec is %d", m.Status.ObservedGeneration, m.Generation)
		case fmt.Sprintf("%s %s", c.Status, c.Reason) != statusReason:
			return fmt.Errorf("it is %s %s: %s", c.Status, c.Reason, c.Message)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				return fmt.Errorf("it says %q", c.Message)
			}
		}
		return nil
	})
	return m
}

// awaitReady waits until the given number of servers are ready. It expects the status to list exactly these servers.
func (s *shop) awaitReady(size int) *cachev1alpha1.Memcached {
	s.Helper()
	reason := cachev1alpha1.ReasonAllServersReady
	if size == 0 {
		reason = cachev1alpha1.ReasonScaledToZero
	}
	m := s.await(cachev1alpha1.MemcachedReady, "True "+reason)
	nodes, servers := []string{}, []string(nil)
	for i := range size {
		nodes = append(nodes, fmt.Sprintf("web-%d", i))
		servers = append(servers, fmt.Sprintf("web-%d.web.%s.svc:11211", i, s.ns))
	}
	if got := m.Status; !slices.Equal(got.Nodes, nodes) || !slices.Equal(got.Servers, servers) || int(got.Replicas) != size || int(got.ReadyReplicas) != size {
		s.Errorf("expected nodes %q and servers %q, all ready, got %+v", nodes, servers, got)
	}
	list := &corev1.ConfigMap{}
	s.read("web-servers", list)
	if want := strings.Join(servers, "\n"); list.Data["servers"] != want {
		s.Errorf("expected ConfigMap web-servers to hold %q, got %q", want, list.Data["servers"])
	}
	return m
}

// children returns the UIDs of all children of the Memcached, by kind and name.
func (s *shop) children() map[string]types.UID {
	s.Helper()
	out := map[string]types.UID{}
	for kind, list := range map[string]client.ObjectList{
		"Service": &corev1.ServiceList{}, "ConfigMap": &corev1.ConfigMapList{}, "StatefulSet": &appsv1.StatefulSetList{},
		"PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{}, "NetworkPolicy": &networkingv1.NetworkPolicyList{}, "Pod": &corev1.PodList{},
	} {
		if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns), client.MatchingLabels{"app.kubernetes.io/instance": "web"}); err != nil {
			s.Fatal(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			out[kind+" "+object.GetName()] = object.GetUID()
			return nil
		})
	}
	return out
}

func (s *shop) awaitNothing() {
	s.Helper()
	operator.Until(s.T, "nothing of the object is left", func() error {
		if left := s.children(); len(left) > 0 {
			return fmt.Errorf("there is %v", left)
		}
		return eventually.Gone(env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: "web"}, &cachev1alpha1.Memcached{}), apierrors.IsNotFound)
	})
}
