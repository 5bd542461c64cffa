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

// awaitPolicies waits until the API server applies the admission policies to objects of the kinds. For a moment after
// the policies were created, the API server ignores them. After that, it refuses all objects of a kind until it has
// published the schema of the kind's CRD.
func (s *Suite) awaitPolicies(t *testing.T) {
	t.Helper()
	for _, kind := range s.kinds {
		for _, crd := range kind.CRDs {
			plural, _, _ := strings.Cut(crd, ".")
			trial := s.valid(t, plural)
			if trial == nil {
				continue // no policy applies to a kind that only a test defines
			}
			eventually.True(t, Long, "the API server applies policies to "+crd, func() error {
				return s.applies(t, trial, s.records(t, plural))
			})
		}
	}
}

// valid returns an object that the CRD accepts. It returns nil for a kind that only a test defines.
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

// records reports whether an admission policy records the user who created or changed an object of a resource as its
// requester.
func (s *Suite) records(t *testing.T, plural string) bool {
	t.Helper()
	found := false
	for _, folder := range []string{"cluster/rights", "machineconfig"} {
		text, err := os.ReadFile(filepath.Join(s.Root, "config", folder, "requester.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		found = found || strings.Contains(string(text), plural)
	}
	return found
}

// applies returns nil once the API server accepts the object in a dry run. If records is set, the API server must also
// have recorded a requester in the object.
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

// Unbind disables admission policies by deleting their bindings. It recreates the bindings when bind is called or the
// test ends.
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

// Requester returns the binding of the admission policy that records, as the requester of an object, the user who
// created or changed the object.
func Requester() client.Object {
	return &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "opcrew-requester"}}
}

// WithoutPolicies simulates an older installation without the admission policies about requesters, until the test calls
// install or ends. trial is a valid object of the tested kind; WithoutPolicies sends it only in dry runs.
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
