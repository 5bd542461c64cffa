// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/opcrew/opcrew/hack/rights/marker"
	"github.com/opcrew/opcrew/hack/rights/namespaced"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// Deployed returns a client configuration for the ServiceAccount of the tested operator. The first call creates the
// account, its deployed roles and the admission policies.
func (s *Suite) Deployed(t *testing.T) *rest.Config {
	t.Helper()
	s.deployment.Do(func() {
		s.Apply(t, "config/namespace/namespace.yaml")
		objects := append(Built(t, s.Root, "config/cluster"), s.rights(t)...)
		if slices.ContainsFunc(s.kinds, func(k kit.Registration) bool { return slices.ContainsFunc(k.CRDs, isMachineConfig) }) {
			objects = append(objects, Built(t, s.Root, "config/machineconfig")...)
		}
		for _, object := range objects {
			s.ApplyObject(t, object)
		}
		s.awaitPolicies(t)
		s.config = s.TokenConfig(t, Namespace, s.account)
	})
	if s.config == nil {
		t.Fatal("the operator could not be deployed, see the first test")
	}
	return rest.CopyConfig(s.config)
}

// rights returns the ServiceAccount, the roles and the role bindings with which the tested kinds are deployed.
func (s *Suite) rights(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	layer := s.kinds[0].Layer
	var objects []*unstructured.Unstructured
	count := map[string]int{}
	for _, object := range s.limited(t, Built(t, s.Root, filepath.Join("config/layers", layer))) {
		if object.GetKind() == "ServiceAccount" || object.GroupVersionKind().Group == rbacv1.GroupName {
			objects = append(objects, object)
			count[object.GetKind()]++
		}
	}
	if count["ServiceAccount"] != 1 || min(count["ClusterRole"], count["ClusterRoleBinding"], count["Role"], count["RoleBinding"]) == 0 {
		t.Fatalf("expected an account, roles and their bindings for layer %s, got %v", layer, count)
	}
	return objects
}

// limited converts the objects to those of an installation for some namespaces, if the suite tests such an
// installation.
func (s *Suite) limited(t *testing.T, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	if len(s.namespaces) == 0 {
		return objects
	}
	out, err := namespaced.Manifests(objects, []marker.Layer{layerOf(t, s.Root, s.kinds[0].Layer)}, s.namespaces)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// layerOf returns the layer with this name (one Deployment of the operator), with the RBAC rights of the layer's kinds.
func layerOf(t testing.TB, root, name string) marker.Layer {
	t.Helper()
	layers, err := marker.Layers(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		if layer.Name == name {
			return layer
		}
	}
	t.Fatalf("there is no layer %s", name)
	return marker.Layer{}
}

// Built returns the objects that kustomize builds from a folder.
func Built(t *testing.T, root, folder string) []*unstructured.Unstructured {
	t.Helper()
	kubectl := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl"), "kustomize", filepath.Join(root, folder))
	var stderr bytes.Buffer
	kubectl.Stderr = &stderr
	text, err := kubectl.Output()
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v\n%s", folder, err, stderr.String())
	}
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	docs, err := manifest.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, doc := range docs {
		objects = append(objects, doc.Object)
	}
	return objects
}
