// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaced

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/opcrew/opcrew/hack/rights/marker"
)

const (
	// OperatorNamespace is the namespace of the operator's Deployments.
	OperatorNamespace = "opcrew-system"
	// ActivityNamespace is the namespace in which the pods of Activities run.
	ActivityNamespace = "opcrew-activities"
	// FirewallNamespace is the namespace in which the firewall agents of NodePools run.
	FirewallNamespace = "opcrew-firewall"

	layerLabel = "opcrew.io/layer"
)

// Manifests converts the objects of an installation for all namespaces to those of an installation for some namespaces.
func Manifests(objects []*unstructured.Unstructured, layers []marker.Layer, namespaces []string) ([]*unstructured.Unstructured, error) {
	if err := check(namespaces); err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, object := range objects {
		changed, err := changed(object, layers, namespaces)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		out = append(out, changed...)
	}
	return out, nil
}

// changed returns the objects that replace an object of the manifests. An object that belongs to no Deployment of the
// operator stays unchanged.
func changed(object *unstructured.Unstructured, layers []marker.Layer, namespaces []string) ([]*unstructured.Unstructured, error) {
	i := slices.IndexFunc(layers, func(l marker.Layer) bool { return l.Name == object.GetLabels()[layerLabel] })
	if i < 0 {
		return []*unstructured.Unstructured{object}, nil
	}
	switch layer := layers[i]; object.GetKind() {
	case "ClusterRole":
		if object.GetName() != "opcrew-"+layer.Name {
			break // a separate role stays unchanged; only its bindings change
		}
		return split(object, layer, namespaces)
	case "ClusterRoleBinding":
		return bindings(object, layer, namespaces)
	case "Deployment":
		return []*unstructured.Unstructured{object}, addFlags(object, layer, namespaces)
	}
	return []*unstructured.Unstructured{object}, nil
}

// split replaces the ClusterRole of a layer (one Deployment of the operator) with two kinds of roles: a smaller
// ClusterRole for cluster-scoped resources, and a Role in each namespace.
func split(object *unstructured.Unstructured, layer marker.Layer, namespaces []string) ([]*unstructured.Unstructured, error) {
	cluster, inNamespace := roles(layer, namespaces)
	meta := metav1.ObjectMeta{Name: object.GetName(), Labels: object.GetLabels()}
	all := []any{&rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: meta, Rules: cluster}}
	for _, meta.Namespace = range namespaces {
		all = append(all, &rbacv1.Role{TypeMeta: typeMeta("Role"), ObjectMeta: meta, Rules: inNamespace})
	}
	return untyped(all)
}

// bindings turns a ClusterRoleBinding into a RoleBinding in each namespace. It also keeps the ClusterRoleBinding of a
// layer (one Deployment of the operator), because the ClusterRole of the layer still has the rights to cluster-scoped
// resources.
func bindings(object *unstructured.Unstructured, layer marker.Layer, namespaces []string) ([]*unstructured.Unstructured, error) {
	binding := &rbacv1.ClusterRoleBinding{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding); err != nil {
		return nil, err
	}
	var all []any
	ref := binding.RoleRef
	if ref.Name == "opcrew-"+layer.Name {
		all, ref.Kind = append(all, binding), "Role"
	}
	meta := metav1.ObjectMeta{Name: object.GetName(), Labels: object.GetLabels()}
	for _, meta.Namespace = range namespaces {
		all = append(all, &rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: meta, RoleRef: ref, Subjects: binding.Subjects})
	}
	return untyped(all)
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func untyped(objects []any) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, object := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, err
		}
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		out = append(out, &unstructured.Unstructured{Object: content})
	}
	return out, nil
}

// addFlags adds flags to the operator's process that limit it to the namespaces, and to the kinds that it can serve
// there.
func addFlags(object *unstructured.Unstructured, layer marker.Layer, namespaces []string) error {
	containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		return fmt.Errorf("expected one container, got %d (%w)", len(containers), err)
	}
	container := containers[0].(map[string]any)
	args, _, err := unstructured.NestedStringSlice(container, "args")
	if err != nil {
		return err
	}
	args = append(args, "--namespaces="+strings.Join(namespaces, ","))
	if served := Served(layer); len(served) < len(layer.Kinds) {
		args = append(args, "--kinds="+strings.Join(served, ","))
	}
	if err := unstructured.SetNestedStringSlice(container, args, "args"); err != nil {
		return err
	}
	return unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")
}
