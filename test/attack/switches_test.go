// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"os"
	"path/filepath"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/repo"
)

// undefended starts a cluster without defences: the CRDs validate nothing, there are no admission policies, the
// operators have no guards, their caches keep whole objects, and the tenant may write all of opcrew's objects.
func undefended(t *testing.T) *cluster {
	t.Helper()
	c := start(t, crdsWithoutValidation(t), unguarded)
	for _, list := range []client.Object{
		&admissionv1.ValidatingAdmissionPolicyBinding{}, &admissionv1.MutatingAdmissionPolicyBinding{},
	} {
		if err := c.env.Client.DeleteAllOf(t.Context(), list); err != nil {
			t.Fatalf("removing the policies: %v", err)
		}
	}
	awaitNoPolicies(t, c)
	all := &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}}
	all.Name = "everything"
	if err := c.env.Client.Create(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	c.roles, c.trim = append(userRoles(), all.Name), everything
	return c
}

// everything is a transform function of a cache that removes nothing.
func everything(object any) (any, error) { return object, nil }

// unguarded returns the kind without the guard that checks pods before they are created.
func unguarded(kind kit.Registration) kit.Registration {
	setup := kind.Setup
	kind.Setup = func(mgr ctrl.Manager, tools *kit.Tools) error {
		tools.Children.Guards = nil
		return setup(mgr, tools)
	}
	return kind
}

// crdsWithoutValidation writes copies of the CRDs without validation rules to a folder. It returns the path of the
// folder, relative to the repository's root.
func crdsWithoutValidation(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repo.Path(t, testenv.ProjectCRDs), "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no CRDs: %v", err)
	}
	dir := t.TempDir()
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd map[string]any
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			t.Fatal(err)
		}
		strip(crd)
		if raw, err = yaml.Marshal(crd); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	relative, err := filepath.Rel(repo.Path(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	return relative
}

// rules lists the keywords of a schema that restrict values.
var rules = []string{
	"x-kubernetes-validations", "pattern", "enum", "maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "maxProperties", "minProperties",
}

// strip removes the keywords in rules from a schema and from everything below it. It keeps the keys of properties,
// because these are field names.
func strip(node any) {
	switch node := node.(type) {
	case []any:
		for _, each := range node {
			strip(each)
		}
	case map[string]any:
		for _, rule := range rules {
			delete(node, rule)
		}
		for key, each := range node {
			properties, ok := each.(map[string]any)
			if key != "properties" || !ok {
				strip(each)
				continue
			}
			for _, property := range properties {
				strip(property)
			}
		}
	}
}
