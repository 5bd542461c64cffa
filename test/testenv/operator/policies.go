// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// awaitPolicies waits until the API server applies the admission policies to objects of the kinds. Just after the
// policies were created it ignores them, and then it refuses objects until it has published the schema of their CRD.
func (s *Suite) awaitPolicies(t *testing.T) {
	t.Helper()
	for _, kind := range s.kinds {
		for _, crd := range kind.CRDs {
			plural, _, _ := strings.Cut(crd, ".")
			trial := s.valid(t, plural)
			if trial == nil {
				continue // the policies are about opcrew's own kinds
			}
			eventually.True(t, Long, "the API server applies policies to "+crd, func() error {
				return s.applies(t, trial, s.records(t, plural))
			})
		}
	}
}

// valid returns an object that the CRD accepts; nil for a kind that only a test defines.
func (s *Suite) valid(t *testing.T, plural string) *unstructured.Unstructured {
	t.Helper()
	docs, err := manifest.Read(filepath.Join(s.Root, "test", "crds", "testdata", plural, "accept"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(docs) == 0 {
		t.Fatalf("expected an accepted object of %s, got %d (%v)", plural, len(docs), err)
	}
	object := docs[0].Object
	object.SetNamespace(metav1.NamespaceDefault)
	return object
}

// records reports whether the policy opcrew-requester records the requester of a resource.
func (s *Suite) records(t *testing.T, plural string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Root, "config", "cluster", "rights", "requester.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), plural)
}

// applies returns nil once a dry run accepts the object, with a record of its requester if a policy writes one.
func (s *Suite) applies(t *testing.T, object *unstructured.Unstructured, records bool) error {
	trial := object.DeepCopy()
	if err := s.Client.Create(t.Context(), trial, client.DryRunAll); err != nil {
		return err
	}
	if records && trial.GetAnnotations()[common.RequesterAnnotation] == "" {
		return errors.New("no policy records the requester yet")
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
