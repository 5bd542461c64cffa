// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// root is the path of the repository's root, relative to this package.
const root = "../../.."

func TestTheLineAboveAMarkerIsItsReason(t *testing.T) {
	for title, c := range map[string]struct {
		comment string
		want    []Right
	}{
		"one line": {"// The pods.\n// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get;list", []Right{
			{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}, Reason: "The pods."},
		}},
		"two lines": {"// The pods,\n// and more.\n// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get", []Right{
			{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}, Reason: "The pods, and more."},
		}},
		"a second marker without a reason": {"// Why.\n// +kubebuilder:rbac:groups=a,resources=b,verbs=get\n// +kubebuilder:rbac:groups=c,resources=d,verbs=list", []Right{
			{Groups: []string{"a"}, Resources: []string{"b"}, Verbs: []string{"get"}, Reason: "Why."},
			{Groups: []string{"c"}, Resources: []string{"d"}, Verbs: []string{"list"}},
		}},
		"text of its own above an empty line": {"// All of them.\n//\n// +kubebuilder:rbac:groups=a,resources=b,verbs=get", []Right{
			{Groups: []string{"a"}, Resources: []string{"b"}, Verbs: []string{"get"}},
		}},
		"names, a namespace and a role": {"// Why.\n// +kubebuilder:rbac:groups=a,resources=b;c,resourceNames=x;y,namespace=n,roleName=r,verbs=get", []Right{
			{Groups: []string{"a"}, Resources: []string{"b", "c"}, Names: []string{"x", "y"}, Namespace: "n", Role: "r", Verbs: []string{"get"}, Reason: "Why."},
		}},
	} {
		t.Run(title, func(t *testing.T) {
			got, err := OfPackage(folder(t, c.comment), "")
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i].At = ""
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("not as expected (-expected +found):\n%s", diff)
			}
		})
	}
}

func TestAMarkerThatIsNotUnderstoodIsRefused(t *testing.T) {
	for comment, says := range map[string]string{
		"// +kubebuilder:rbac:groups=a,resources=b,urls=/metrics,verbs=get": `the unknown setting "urls"`,
		"// +kubebuilder:rbac:groups=a,verbs=get":                           "needs groups, resources and verbs",
	} {
		if _, err := OfPackage(folder(t, comment), ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: expected an error that says %s, got %v", comment, says, err)
		}
	}
}

// folder creates a folder with a Go file that contains the comment.
func folder(t *testing.T, comment string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kind.go"), []byte("package kind\n\n"+comment+"\n\nconst workers = 8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEveryRightHasAReason(t *testing.T) {
	for _, layer := range layersOf(t) {
		if len(layer.Kinds) == 0 || len(layer.Rights) < 10 {
			t.Errorf("layer %s: expected its kinds and their rights, got %v with %d rights", layer.Name, layer.Kinds, len(layer.Rights))
		}
		for _, right := range layer.Rights {
			if len(strings.Fields(right.Reason)) < 2 {
				t.Errorf("%s: expected a reason in the line above the marker, got %q", right.At, right.Reason)
			}
		}
	}
}

func layersOf(t *testing.T) []Layer {
	t.Helper()
	layers, err := Layers(root)
	if err != nil || len(layers) != 3 {
		t.Fatalf("expected three layers, got %d (%v)", len(layers), err)
	}
	return layers
}

// The deployed roles must not contain a right without a marker, because docs/rights.md would not list it or give its
// reason.
func TestTheRolesOfTheLayersHaveTheRightsOfTheMarkersAndNoOthers(t *testing.T) {
	for _, layer := range layersOf(t) {
		marked := map[string]bool{}
		for _, right := range layer.Rights {
			right.Each(func(group, resource, name, verb string) {
				marked[single(right.Namespace, roleOf(layer, right), group, resource, name, verb)] = true
			})
		}
		if diff := cmp.Diff(marked, deployed(t, layer)); diff != "" {
			t.Errorf("layer %s: run make manifests; rights of the markers (-) and of the generated roles (+):\n%s", layer.Name, diff)
		}
	}
}

// roleOf returns the name of the role that has a right. A kind that is installed separately has a role of its own.
func roleOf(layer Layer, right Right) string {
	switch {
	case right.Role != "":
		return right.Role
	case slices.Contains(layer.Separate, right.Kind):
		return "opcrew-" + right.Kind
	}
	return "opcrew"
}

func single(namespace, role, group, resource, name, verb string) string {
	return fmt.Sprintf("%s/%s: %s %s.%s %s", namespace, role, verb, resource, group, name)
}

// deployed returns each single right in the generated roles of a layer (one Deployment of the operator), and of its
// kinds that are installed separately.
func deployed(t *testing.T, layer Layer) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	addRights(t, "config/layers/"+layer.Name, found)
	for _, kind := range layer.Kinds {
		if slices.Contains(layer.Separate, kind) {
			addRights(t, "config/"+kind, found)
		}
	}
	return found
}

// addRights adds each single right in the generated roles of a folder.
func addRights(t *testing.T, folder string, found map[string]bool) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, folder, "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(string(content), "\n---\n") {
		role := &rbacv1.Role{} // a ClusterRole has the same fields
		if err := yaml.Unmarshal([]byte(text), role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				right := Right{Groups: []string{group}, Resources: rule.Resources, Names: rule.ResourceNames, Verbs: rule.Verbs}
				right.Each(func(group, resource, name, verb string) {
					found[single(role.Namespace, role.Name, group, resource, name, verb)] = true
				})
			}
		}
	}
}
