// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaced

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/opcrew/opcrew/hack/rights/marker"
	"github.com/opcrew/opcrew/hack/rights/namespaced"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// rightsOf returns the layers of the operator. Each layer is one Deployment and has the RBAC rights of its kinds.
func rightsOf(t *testing.T) []marker.Layer {
	t.Helper()
	layers, err := marker.Layers(env.Root)
	if err != nil {
		t.Fatal(err)
	}
	return layers
}

// may reports whether the ServiceAccount of a layer (one Deployment of the operator) has a right. An empty namespace
// means the right in all namespaces.
func may(t *testing.T, layer, namespace, group, resource, name, verb string) bool {
	t.Helper()
	resource, sub, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   testenv.ServiceAccountUser(operator.Namespace, "opcrew-"+layer),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + operator.Namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Group: group, Resource: resource, Subresource: sub, Name: name, Verb: verb,
		},
	}}
	if err := env.Client.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

func TestTheAccountsOfANamespacedInstallationHaveTheirRightsThereAndNowhereElse(t *testing.T) {
	installed(t, "narrow-a", "narrow-b")
	create(t, &corev1.Namespace{}, "narrow-c")
	asked := 0
	for _, layer := range rightsOf(t) {
		for _, right := range layer.Rights {
			if right.Namespace != "" || !slices.Contains(append(namespaced.Served(layer), ""), right.Kind) {
				continue
			}
			right.Each(func(group, resource, name, verb string) {
				asked++
				what := fmt.Sprintf("opcrew-%s, %s %s.%s %s", layer.Name, verb, resource, group, name)
				if namespaced.IsClusterScoped(group, resource) {
					return
				}
				for _, namespace := range []string{"narrow-a", "narrow-b"} {
					if got, want := may(t, layer.Name, namespace, group, resource, name, verb), right.Role != "opcrew-activity-secrets"; got != want {
						t.Errorf("%s in %s: expected %t, got %t", what, namespace, want, got)
					}
				}
				for _, namespace := range []string{"narrow-c", "kube-system", ""} {
					if may(t, layer.Name, namespace, group, resource, name, verb) {
						t.Errorf("%s in namespace %q: expected no right, only narrow-a and narrow-b are served", what, namespace)
					}
				}
			})
		}
	}
	if asked < 200 {
		t.Errorf("expected to ask for all rights of the operator, found %d", asked)
	}
}

// The other tests check only rights that a marker in the code requests. So this test reads from the API server all
// rights that the accounts have in a namespace that the installation does not serve.
func TestTheAccountsOfANamespacedInstallationHaveOnlyClusterScopedRightsInAThirdNamespace(t *testing.T) {
	installed(t, "narrow-a", "narrow-b")
	create(t, &corev1.Namespace{}, "narrow-c")
	everyone := rules(t, "narrow-c", "no-one")
	for layer := range layers() {
		found := rules(t, "narrow-c", "opcrew-"+layer)
		for rule := range found {
			group, resource, _ := strings.Cut(rule, " ")
			if !everyone[rule] && !namespaced.IsClusterScoped(group, resource) {
				t.Errorf("opcrew-%s: expected no right to %s in a namespace that is not served", layer, rule)
			}
		}
		if len(found) <= len(everyone) {
			t.Errorf("opcrew-%s: expected its cluster-scoped rights to be listed, got %v", layer, found)
		}
	}
	for _, layer := range rightsOf(t) {
		if may(t, layer.Name, "", "", "namespaces/finalizers", "narrow-c", "update") {
			t.Errorf("opcrew-%s: expected no right to the finalizers of a namespace that is not served", layer.Name)
		}
	}
}

// rules returns the resources with their groups to which an account has any right in a namespace.
func rules(t *testing.T, namespace, account string) map[string]bool {
	t.Helper()
	c := env.ClientFor(t, env.TokenConfig(t, operator.Namespace, account))
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	if err := c.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	if review.Status.Incomplete {
		t.Fatalf("the list of rights is incomplete: %s", review.Status.EvaluationError)
	}
	found := map[string]bool{}
	for _, rule := range review.Status.ResourceRules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				found[group+" "+resource] = true
			}
		}
	}
	return found
}

// A list in hack/rights/namespaced says which resources are cluster-scoped. A wrong entry would grant a right in all
// namespaces, or in none.
func TestEveryResourceOfARightIsInTheScopeThatTheAPIServerHas(t *testing.T) {
	for _, layer := range rightsOf(t) {
		for _, right := range layer.Rights {
			if slices.Contains(layer.Separate, right.Kind) {
				continue // an installation for some namespaces does not serve the kind
			}
			right.Each(func(group, resource, _, _ string) {
				name, _, _ := strings.Cut(resource, "/")
				kind, err := env.Client.RESTMapper().KindFor(schema.GroupVersionResource{Group: group, Resource: name})
				if right.Role != "" && meta.IsNoMatchError(err) {
					return // another product has the resource, and an administrator binds the role if it is installed
				}
				if err != nil {
					t.Fatalf("%s: %v", right.At, err)
				}
				mapping, err := env.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
				if err != nil {
					t.Fatalf("%s: %v", right.At, err)
				}
				if got, want := namespaced.IsClusterScoped(group, resource), mapping.Scope.Name() == meta.RESTScopeNameRoot; got != want {
					t.Errorf("%s: %s.%s is cluster-scoped: expected %t, but the list of clusterScoped resources says %t", right.At, resource, group, want, got)
				}
			})
		}
	}
}
