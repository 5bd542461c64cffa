// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaced

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/hack/rights/marker"
)

// machines returns a layer (a Deployment of the operator) with two kinds. An installation for some namespaces does not
// serve one of them, nodepool, because it affects the whole cluster.
func machines() marker.Layer {
	right := func(kind, resource string, verbs ...string) marker.Right {
		return marker.Right{Kind: kind, Groups: []string{""}, Resources: []string{resource}, Verbs: verbs}
	}
	logs := right("activity", "pods/log", "get")
	logs.Role = "opcrew-logs"
	own := right("activity", "secrets", "create")
	own.Namespace = ActivityNamespace
	return marker.Layer{Name: "machines", Kinds: []string{"nodepool", "activity"}, Rights: []marker.Right{
		right("", "events", "create", "patch"), right("nodepool", "nodes", "patch"), right("nodepool", "pods", "list"),
		right("activity", "nodes", "get"), right("activity", "services", "get", "list"), right("activity", "services", "get", "watch"),
		right("activity", "namespaces/finalizers", "update"), logs, own,
	}}
}

// all contains the manifests of an installation for all namespaces.
const all = `
kind: ClusterRole
metadata: {name: opcrew-machines, labels: {opcrew.io/layer: machines}}
rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]
---
kind: ClusterRole
metadata: {name: opcrew-logs-machines, labels: {opcrew.io/layer: machines}}
---
kind: ClusterRoleBinding
metadata: {name: opcrew-machines, labels: {opcrew.io/layer: machines}}
roleRef: {kind: ClusterRole, name: opcrew-machines}
subjects: [{kind: ServiceAccount, name: opcrew-machines, namespace: opcrew-system}]
---
kind: ClusterRoleBinding
metadata: {name: opcrew-logs-machines, labels: {opcrew.io/layer: machines}}
roleRef: {kind: ClusterRole, name: opcrew-logs-machines}
---
kind: Role
metadata: {name: opcrew-machines, namespace: opcrew-activities, labels: {opcrew.io/layer: machines}}
---
kind: Deployment
metadata: {name: opcrew-machines, namespace: opcrew-system, labels: {opcrew.io/layer: machines}}
spec: {template: {spec: {containers: [{name: manager, args: [--layer=machines]}]}}}
---
kind: ClusterRole
metadata: {name: opcrew-appservice-editor}
`

func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &object.Object); err != nil {
			t.Fatal(err)
		}
		out = append(out, object)
	}
	return out
}

// narrowed returns the objects of an installation for namespaces a and b. The keys consist of kind, namespace and name.
func narrowed(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	changed, err := Manifests(objects(t, all), []marker.Layer{machines()}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, object := range changed {
		out[fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())] = object
	}
	return out
}

// rulesIn returns the rules of a role as text, one string per rule.
func rulesIn(t *testing.T, role *unstructured.Unstructured) []string {
	t.Helper()
	if role == nil {
		t.Fatal("expected the role to be there")
	}
	rules, _, err := unstructured.NestedSlice(role.Object, "rules")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, rule := range rules {
		of := rule.(map[string]any)
		lines = append(lines, strings.TrimSuffix(fmt.Sprint(of["resources"], of["verbs"], of["resourceNames"]), " <nil>"))
	}
	return lines
}

func TestALayerHasItsRightsInTheNamespacesAndASmallRoleForTheCluster(t *testing.T) {
	found := narrowed(t)
	cluster := []string{"[namespaces/finalizers] [update] [a b]", "[nodes] [get]"}
	if diff := cmp.Diff(cluster, rulesIn(t, found["ClusterRole /opcrew-machines"])); diff != "" {
		t.Errorf("expected what is cluster-scoped, without the rights of NodePool (-expected +found):\n%s", diff)
	}
	for _, namespace := range []string{"a", "b"} {
		if diff := cmp.Diff([]string{"[events] [create patch]", "[services] [get list watch]"}, rulesIn(t, found["Role "+namespace+"/opcrew-machines"])); diff != "" {
			t.Errorf("namespace %s: expected what has a namespace (-expected +found):\n%s", namespace, diff)
		}
	}
}

func TestRolesAreBoundOnlyInTheNamespaces(t *testing.T) {
	found := narrowed(t)
	for name, want := range map[string]string{
		"ClusterRoleBinding /opcrew-machines": "ClusterRole opcrew-machines",
		"RoleBinding a/opcrew-machines":       "Role opcrew-machines",
		"RoleBinding b/opcrew-machines":       "Role opcrew-machines",
		"RoleBinding a/opcrew-logs-machines":  "ClusterRole opcrew-logs-machines",
		"RoleBinding b/opcrew-logs-machines":  "ClusterRole opcrew-logs-machines",
	} {
		binding, ok := found[name]
		if !ok {
			t.Errorf("expected %s", name)
			continue
		}
		ref, _, _ := unstructured.NestedStringMap(binding.Object, "roleRef")
		if got := ref["kind"] + " " + ref["name"]; got != want {
			t.Errorf("%s: expected it to bind %s, got %s", name, want, got)
		}
	}
	if _, ok := found["ClusterRoleBinding /opcrew-logs-machines"]; ok {
		t.Error("expected the role for logs to be bound in the namespaces only")
	}
}

func TestTheProcessServesOnlyTheNamespacesAndTheKindsThatItCan(t *testing.T) {
	deployment := narrowed(t)["Deployment opcrew-system/opcrew-machines"]
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	args, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	if diff := cmp.Diff([]string{"--layer=machines", "--namespaces=a,b", "--kinds=activity"}, args); diff != "" {
		t.Errorf("not as expected (-expected +found):\n%s", diff)
	}
}

func TestObjectsThatGiveTheOperatorNoRightsStayAsTheyAre(t *testing.T) {
	found := narrowed(t)
	for _, name := range []string{"Role opcrew-activities/opcrew-machines", "ClusterRole /opcrew-appservice-editor", "ClusterRole /opcrew-logs-machines"} {
		before := slices.IndexFunc(objects(t, all), func(o *unstructured.Unstructured) bool {
			return fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName()) == name
		})
		if diff := cmp.Diff(objects(t, all)[before], found[name]); diff != "" {
			t.Errorf("%s: expected no change (-expected +found):\n%s", name, diff)
		}
	}
}

func TestNamespacesThatCannotBeMeantAreRefused(t *testing.T) {
	for title, c := range map[string]struct {
		namespaces []string
		says       string
	}{
		"none":               {nil, "NAMESPACES=a,b"},
		"that of Activities": {[]string{"a", ActivityNamespace}, "opcrew's own namespace"},
		"that of opcrew":     {[]string{OperatorNamespace}, "opcrew's own namespace"},
	} {
		if _, err := Manifests(nil, nil, c.namespaces); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: expected a refusal that says %q, got %v", title, c.says, err)
		}
	}
}
