// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const hostReady = customv1.MicroServiceDeployHostReady

// expectHosts checks the host names in the status and in the Ingress.
func (s *shop) expectHosts(url string, hosts ...string) {
	s.Helper()
	s.settled()
	m, ingress := s.get(), &networkingv1.Ingress{}
	if m.Status.URL != url || !slices.Equal(m.Status.Hosts, hosts) {
		s.Errorf("expected %s to be reached at %s, hosts %v, got %s, %v", s.name, url, hosts, m.Status.URL, m.Status.Hosts)
	}
	var there []string
	if s.there(ingress) {
		for _, rule := range ingress.Spec.Rules {
			there = append(there, rule.Host)
		}
	}
	if !slices.Equal(there, hosts) {
		s.Errorf("expected an Ingress for %v, got %v", hosts, there)
	}
}

func TestMajorVersionsRunSideBySideAndOneIsCurrent(t *testing.T) {
	s := newShop(t)
	s.name = "v1"
	s.create(hosted("v1"))
	s.awaitReady(1)
	s.expectHosts("http://web.example.com", "v1-web.example.com", "web.example.com")
	v2 := s.named("v2")
	v2.create(hosted("v2"))
	v2.awaitReady(1)
	v2.await(hostReady, "True Hosted", "v2-web.example.com")
	v2.expectHosts("http://v2-web.example.com", "v2-web.example.com")
	v2.edit(current(true))
	v2.await(hostReady, "True Hosted", "web.example.com")
	v2.expectHosts("http://web.example.com", "v2-web.example.com", "web.example.com")
	s.expectHosts("http://v1-web.example.com", "v1-web.example.com")
	v2.delete()
	v2.awaitNothing()
	s.expectHosts("http://web.example.com", "v1-web.example.com", "web.example.com")
	s.edit(func(m *instance) { m.Spec.BaseDomain = "" })
	s.await(hostReady, "Unknown NoDomain", "these fields have no effect: spec.path")
	s.expectHosts("")
}

func TestAHostThatIsClaimedTwiceBelongsToTheOlder(t *testing.T) {
	s := newShop(t)
	s.create(hosted("v1"))
	s.awaitReady(1)
	for _, later := range []*shop{s.named("later"), s.elsewhere("later")} {
		later.create(hosted("v1"))
		holder := "belongs to MicroServiceDeploy " + s.ns + "/web"
		if later.ns != s.ns {
			holder = "is in use in another namespace"
		}
		later.await(ready, "False HostTaken", "v1-web.example.com "+holder)
		later.await(rolled, "True AllPodsReady")
		later.expectHosts("")
		s.expectHosts("http://web.example.com", "v1-web.example.com", "web.example.com")
		if later.ns == s.ns {
			later.delete()
			later.awaitNothing()
			continue
		}
		s.delete()
		later.awaitReady(1) // the deletion of the other MicroServiceDeploy must enqueue this one
		later.expectHosts("http://web.example.com", "v1-web.example.com", "web.example.com")
	}
}

func TestHostsGoThroughAGatewayWhereThereIsItsAPI(t *testing.T) {
	routes := &unstructured.Unstructured{}
	routes.SetGroupVersionKind(schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"})
	withGatewayAPI(t)
	s := newShop(t)
	s.create(hosted("v1"), throughGateway)
	s.awaitReady(1)
	s.await(hostReady, "True Hosted")
	s.settled()
	s.read(routes)
	hosts, _, _ := unstructured.NestedStringSlice(routes.Object, "spec", "hostnames")
	if !slices.Equal(hosts, []string{"v1-web.example.com", "web.example.com"}) || s.there(&networkingv1.Ingress{}) {
		t.Errorf("expected an HTTPRoute and no Ingress, got %v", routes.Object["spec"])
	}
	env.Rests(t)
	t.Run("drift", func(t *testing.T) {
		(&shop{T: t, ns: s.ns, name: "web"}).expectRepair("httproutes", routes, `{"spec":{"hostnames":["stolen.example.com"]}}`)
	})
	s.edit(func(m *instance) { m.Spec.Gateway = nil })
	s.awaitReady(1)
	s.expectHosts("http://web.example.com", "v1-web.example.com", "web.example.com")
	if s.there(routes) {
		t.Error("expected the HTTPRoute to go when the Ingress is there")
	}
	s.edit(throughGateway)
	s.awaitReady(1)
	s.settled()
	if !s.there(routes) || s.there(&networkingv1.Ingress{}) {
		t.Error("expected the Ingress to go when the HTTPRoute is there")
	}
}

func TestWithoutGatewayAPIAnIngressStandsInAndIsReported(t *testing.T) {
	s := newShop(t)
	s.create(hosted("v1"), throughGateway)
	s.awaitReady(1)
	s.await(hostReady, "True NoGatewayAPI", "an Ingress replaces the HTTPRoute")
	s.expectHosts("http://web.example.com", "v1-web.example.com", "web.example.com")
}

// withGatewayAPI installs the HTTPRoute CRD from testdata for the duration of one test.
func withGatewayAPI(t *testing.T) {
	t.Helper()
	file := filepath.Join(env.Root, "internal/kinds/microservicedeploy/integration/testdata/httproutes.yaml")
	crd := env.Apply(t, file)[0]
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		err := env.Client.Delete(ctx, crd)
		for deadline := time.Now().Add(operator.Long); err == nil && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			err = env.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd)
		}
		if !apierrors.IsNotFound(err) {
			t.Errorf("expected Gateway API to go, got %v", err)
		}
	})
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRouteList"})
	eventually.True(t, operator.Long, "Gateway API is served", func() error {
		return env.Client.List(t.Context(), list, client.Limit(1))
	})
}
