// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func caching(objects map[client.Object]cache.ByObject) Registration {
	return Registration{Cache: func() map[client.Object]cache.ByObject { return objects }}
}

func TestTheCacheHoldsWhatTheKindsDeclareAndNothingElse(t *testing.T) {
	service, deployment := &corev1.Service{}, &appsv1.Deployment{}
	opts := cacheOptions([]Registration{
		caching(map[client.Object]cache.ByObject{service: Ours()}),
		caching(map[client.Object]cache.ByObject{deployment: {}}),
	}, nil)
	if len(opts.ByObject) != 2 || opts.ByObject[service].Label == nil || opts.ByObject[deployment].Label != nil {
		t.Errorf("cached: %v, expected our Services and all Deployments", opts.ByObject)
	}
	if !opts.ReaderFailOnMissingInformer {
		t.Error("a read of another type starts to watch all of it, expected an error")
	}
	if opts.DefaultNamespaces != nil {
		t.Errorf("limited to %v, expected all namespaces", opts.DefaultNamespaces)
	}
	object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "helm"}}}}
	if _, err := opts.DefaultTransform(object); err != nil || object.ManagedFields != nil {
		t.Errorf("cached with managed fields (%v), expected without: they are half of an object", err)
	}
}

func TestTheCacheCanBeLimitedToSomeNamespaces(t *testing.T) {
	opts := cacheOptions(nil, []string{"shop", "bank"})
	got := slices.Sorted(maps.Keys(opts.DefaultNamespaces))
	if !slices.Equal(got, []string{"bank", "shop"}) {
		t.Errorf("limited to %v, expected to bank and shop", got)
	}
}

func TestKindsOfOneProcessSeeTheNamespacesOfEachOther(t *testing.T) {
	jobs := map[string]cache.Config{"jobs": {}}
	for name, c := range map[string]struct {
		first, second map[string]cache.Config
		process       []string
		want          []string // namespaces that the cache must hold; nil means all namespaces
	}{
		"one looks everywhere":          {jobs, nil, nil, nil},
		"the other looks everywhere":    {nil, jobs, nil, nil},
		"one serves some":               {nil, jobs, []string{"shop"}, []string{"jobs", "shop"}},
		"both have one of their own":    {jobs, map[string]cache.Config{"runs": {}}, nil, []string{"jobs", "runs"}},
		"both have the same of its own": {jobs, jobs, []string{"shop"}, []string{"jobs"}},
	} {
		opts := cacheOptions([]Registration{
			caching(map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: c.first}}),
			caching(map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: c.second}}),
		}, c.process)
		if len(opts.ByObject) != 1 {
			t.Fatalf("%s: expected one cache of Pods, got %d", name, len(opts.ByObject))
		}
		for _, by := range opts.ByObject {
			if got := slices.Sorted(maps.Keys(by.Namespaces)); !slices.Equal(got, c.want) {
				t.Errorf("%s: expected the cache of Pods to hold namespaces %v, got %v", name, c.want, got)
			}
		}
	}
}

func TestOursAreTheObjectsThatTheOperatorCreated(t *testing.T) {
	selector := Ours().Label
	if !selector.Matches(labelled("opcrew")) {
		t.Error("an object that opcrew made is not cached")
	}
	if selector.Matches(labelled("Helm")) || selector.Matches(labelled("")) {
		t.Error("an object of another owner is cached")
	}
}

type labelled string

func (l labelled) Has(key string) bool   { return l != "" && key == "app.kubernetes.io/managed-by" }
func (l labelled) Get(key string) string { return string(l) }
func (l labelled) Lookup(key string) (string, bool) {
	return string(l), l.Has(key)
}

func TestPeersAreCachedAsTheirOwnKindDeclares(t *testing.T) {
	user := Registration{Cache: func() map[client.Object]cache.ByObject { return nil }, Peers: map[string]client.Object{"services": &corev1.Service{}}}
	owner := caching(map[client.Object]cache.ByObject{&corev1.Service{}: {}})
	for name, test := range map[string]struct {
		kinds []Registration
		ours  bool
	}{
		"without their kind": {[]Registration{user}, true},
		"with their kind":    {[]Registration{user, owner}, false},
	} {
		opts := cacheOptions(test.kinds, nil)
		if len(opts.ByObject) != 1 {
			t.Fatalf("%s: expected one cache of Services, got %d", name, len(opts.ByObject))
		}
		for _, by := range opts.ByObject {
			if (by.Label != nil) != test.ours {
				t.Errorf("%s: expected only ours: %t, got the selector %v", name, test.ours, by.Label)
			}
		}
	}
	if left := without([]Registration{user}, map[string]bool{"services": false}); len(left[0].Peers) != 0 || len(user.Peers) != 1 {
		t.Errorf("expected peers that are not installed to be left out, got %v", left[0].Peers)
	}
}
