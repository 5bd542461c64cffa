// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/opcrew/opcrew/test/testenv/manifest"
	"github.com/opcrew/opcrew/test/testenv/repo"
)

// fixed is an attack that opcrew's own installation manifests could make possible. check looks for the weakness in
// manifests. It must find none in the committed manifests, and must find it in the manifest bad.
type fixed struct {
	name, source string
	item         int
	needs        defence
	check        func(objects []*unstructured.Unstructured) string
	bad          string
}

func installAttacks() []fixed {
	return []fixed{
		{"an image that anyone can publish", "review 7, OWASP K02", 7, installed, publishable,
			`{kind: Deployment, spec: {template: {spec: {containers: [{image: "opcrew/opcrew:dev"}]}}}}`},
		{"rights to everything", "review 7, OWASP K03", 7, installed, wildcards,
			`{kind: ClusterRole, metadata: {name: opcrew-data}, rules: [{apiGroups: ["*"], resources: [pods], verbs: [get]}]}`},
		{"rights to give oneself rights", "OWASP K03, CVE-2022-24768 (Argo CD)", 7, installed, escalates,
			`{kind: ClusterRole, metadata: {name: opcrew-data}, rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}]}`},
		{"an operator as root", "OWASP K01", 7, installed, rootOperator,
			`{kind: Deployment, metadata: {name: opcrew-data}, spec: {template: {spec: {containers: [{image: "a@sha256:b"}]}}}}`},
	}
}

func TestWhatIsInstalledGivesAnAttackerNothing(t *testing.T) {
	objects := read(t, repo.Path(t, "dist", "install.yaml"))
	for _, a := range installAttacks() {
		t.Run(a.name, func(t *testing.T) {
			if harm := a.check(objects); harm != "" {
				t.Errorf("%s\nsource: %s\nneeds %s", harm, a.source, a.needs)
			}
			bad := (&world{T: t}).parse(a.bad)
			if a.check([]*unstructured.Unstructured{bad}) == "" {
				t.Errorf("expected the check to refuse %s", a.bad)
			}
		})
	}
}

func read(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	docs, err := manifest.Read(file)
	if err != nil || len(docs) == 0 {
		t.Fatalf("%s has no objects: %v", file, err)
	}
	var out []*unstructured.Unstructured
	for _, doc := range docs {
		out = append(out, doc.Object)
	}
	return out
}

// publishable describes an image whose name is not in opcrew.invalid, a domain that no one can register. Anyone may be
// able to publish such an image. It returns "" if there is none.
func publishable(objects []*unstructured.Unstructured) string {
	for _, o := range objects {
		for _, c := range podContainers(o) {
			if image, _ := c["image"].(string); !strings.HasPrefix(image, "opcrew.invalid/") {
				return fmt.Sprintf("%s %s has image %s, which anyone may be able to publish", o.GetKind(), o.GetName(), image)
			}
		}
	}
	return ""
}

func podContainers(o *unstructured.Unstructured) []map[string]any {
	if o.GetKind() != "Deployment" {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	var out []map[string]any
	for _, each := range list {
		if c, ok := each.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}

// rule returns a rule in a role of the operator for which check returns true.
func rule(objects []*unstructured.Unstructured, check func(groups, resources, verbs []string) bool) string {
	for _, o := range objects {
		if o.GetKind() != "ClusterRole" && o.GetKind() != "Role" {
			continue
		}
		rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
		for _, each := range rules {
			r, _ := each.(map[string]any)
			of := func(key string) []string { list, _, _ := unstructured.NestedStringSlice(r, key); return list }
			if check(of("apiGroups"), of("resources"), of("verbs")) {
				return fmt.Sprintf("%s %s has %v", o.GetKind(), o.GetName(), r)
			}
		}
	}
	return ""
}

func wildcards(objects []*unstructured.Unstructured) string {
	return rule(objects, func(groups, resources, verbs []string) bool {
		return slices.Contains(slices.Concat(groups, resources, verbs), "*")
	})
}

func escalates(objects []*unstructured.Unstructured) string {
	return rule(objects, func(groups, resources, verbs []string) bool {
		all := slices.Concat(resources, verbs)
		return slices.ContainsFunc([]string{"escalate", "bind", "impersonate", "pods/exec", "pods/attach", "serviceaccounts/token", "nodes/proxy"}, func(right string) bool {
			return slices.Contains(all, right)
		})
	})
}

func rootOperator(objects []*unstructured.Unstructured) string {
	for _, o := range objects {
		for _, c := range podContainers(o) {
			context, _ := c["securityContext"].(map[string]any)
			if root, _ := context["readOnlyRootFilesystem"].(bool); !root || context["allowPrivilegeEscalation"] != false {
				return fmt.Sprintf("%s %s is not restricted: %v", o.GetKind(), o.GetName(), context)
			}
		}
	}
	return ""
}
