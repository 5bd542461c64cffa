// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAPodLeadsToTheObjectThatItsLabelsName(t *testing.T) {
	for name, test := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"of the kind":     {map[string]string{"app.kubernetes.io/name": "web", "object": "shop"}, "[ns/shop]"},
		"of another kind": {map[string]string{"app.kubernetes.io/name": "db", "object": "shop"}, "[]"},
		"without a name":  {map[string]string{"app.kubernetes.io/name": "web"}, "[]"},
	} {
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name, pod.Labels = "ns", "shop-0", test.labels
		if got := fmt.Sprint(OwnerByLabels("web", "object")(t.Context(), pod)); got != test.want {
			t.Errorf("a pod %s: expected %s, got %s", name, test.want, got)
		}
	}
}

func TestANamespaceLeadsToAllObjectsOfTheKindInIt(t *testing.T) {
	var all []client.Object
	for _, name := range []string{"a/one", "a/two", "b/three"} {
		object := &corev1.ConfigMap{}
		object.Namespace, object.Name = name[:1], name[2:]
		all = append(all, object)
	}
	find := ObjectsIn(fake.NewClientBuilder().WithObjects(all...).Build(), &corev1.ConfigMapList{})
	for ns, want := range map[string]string{"a": "[a/one a/two]", "b": "[b/three]", "c": "[]"} {
		object := &corev1.Namespace{}
		object.Name = ns
		if got := fmt.Sprint(find(t.Context(), object)); got != want {
			t.Errorf("namespace %s: expected %s, got %s", ns, want, got)
		}
	}
}
