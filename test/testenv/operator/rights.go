// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// Deployed is the operator's account, with the rights that the layer deploys.
func (s *Suite) Deployed(t *testing.T) *rest.Config {
	t.Helper()
	s.deployment.Do(func() {
		s.Apply(t, "config/default/namespace.yaml")
		s.Apply(t, "config/cluster/priority_class.yaml")
		for _, object := range rights(t, s.Root, s.kind.Layer) {
			s.ApplyObject(t, object)
		}
		s.config = s.TokenConfig(t, Namespace, s.account)
	})
	if s.config == nil {
		t.Fatal("the operator could not be deployed, see the first test")
	}
	return rest.CopyConfig(s.config)
}

// rights lists what is deployed for a layer, without its Deployment.
func rights(t *testing.T, root string, layer kit.Layer) []*unstructured.Unstructured {
	t.Helper()
	kubectl := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl"), "kustomize", filepath.Join(root, "config", "layers", string(layer)))
	var stderr bytes.Buffer
	kubectl.Stderr = &stderr
	text, err := kubectl.Output()
	if err != nil {
		t.Fatalf("kubectl kustomize config/layers/%s: %v\n%s", layer, err, stderr.String())
	}
	file := filepath.Join(t.TempDir(), "layer.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	docs, err := manifest.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, doc := range docs {
		if doc.Object.GetKind() == "ServiceAccount" || doc.Object.GroupVersionKind().Group == rbacv1.GroupName {
			objects = append(objects, doc.Object)
		}
	}
	if len(objects) != 5 {
		t.Fatalf("expected an account, two roles and their bindings for layer %s, got %d objects", layer, len(objects))
	}
	return objects
}
