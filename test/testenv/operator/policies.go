// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
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

// Unbind takes policies out of force by deleting their bindings, until bind is called or the test ends.
func (s *Suite) Unbind(t *testing.T, bindings ...client.Object) (bind func()) {
	t.Helper()
	for _, binding := range bindings {
		if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(binding), binding); err != nil {
			t.Fatal(err)
		}
		if err := s.Client.Delete(t.Context(), binding); err != nil {
			t.Fatal(err)
		}
		binding.SetResourceVersion("")
		binding.SetUID("")
	}
	ctx := context.WithoutCancel(t.Context())
	bind = func() {
		for _, binding := range bindings {
			again := binding.DeepCopyObject().(client.Object)
			if err := s.Client.Create(ctx, again); client.IgnoreAlreadyExists(err) != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(bind)
	return bind
}

// Requester is the binding of the policy that records requesters.
func Requester() client.Object {
	return &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "opcrew-requester"}}
}

// WithoutPolicies makes an installation from before the policies about requesters, until install is called or the test
// ends. trial is a valid object of the kind. It is not created.
func (s *Suite) WithoutPolicies(t *testing.T, trial client.Object) (install func()) {
	t.Helper()
	bindings := []client.Object{Requester()}
	for _, name := range []string{"opcrew-requester", "opcrew-rights-" + s.kinds[0].Name} {
		bindings = append(bindings, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	bind := s.Unbind(t, bindings...)
	await := func(expectation string, records bool) {
		t.Helper()
		Until(t, expectation, func() error {
			return recorded(t, s.Client, trial, func(record string) bool { return (record != "") == records })
		})
	}
	await("no policy records requesters", false)
	return func() {
		t.Helper()
		bind()
		await("a policy records requesters", true)
	}
}
