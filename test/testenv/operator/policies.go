// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// awaitPolicies waits until the API server can apply the mutating admission policies to objects of the kinds. Before
// that, it refuses such objects, because it has not published the schema of their CRD yet.
func (s *Suite) awaitPolicies(t *testing.T) {
	t.Helper()
	for _, kind := range s.kinds {
		for _, crd := range kind.CRDs {
			plural, group, _ := strings.Cut(crd, ".")
			eventually.True(t, Long, "the API server applies policies to "+crd, func() error {
				return s.mutates(t, schema.GroupVersionResource{Group: group, Resource: plural})
			})
		}
	}
}

// mutates returns nil once the API server applies the policies. It tries to create an empty object, which only the
// schema may refuse.
func (s *Suite) mutates(t *testing.T, resource schema.GroupVersionResource) error {
	kind, err := s.Client.RESTMapper().KindFor(resource)
	if err != nil {
		return err
	}
	trial := &unstructured.Unstructured{}
	trial.SetGroupVersionKind(kind)
	trial.SetNamespace(metav1.NamespaceDefault)
	trial.SetGenerateName("trial-")
	err = s.Client.Create(t.Context(), trial, client.DryRunAll)
	if err != nil && strings.Contains(err.Error(), "delay between when CustomResourceDefinitions are created") {
		return fmt.Errorf("the policies do not know the schema yet: %w", err)
	}
	return nil
}
